import { canonicalJsonIncrementally } from '@ff/core/fingerprint'
import {
  type AuditEvent,
  type AuditEventRow,
  type AuditEventType,
  type AuditLog,
  auditEventCodec,
  auditEvents,
} from '@ff/protocol/management'
import { runInTimeSlices, sha256 } from '@ff/server/plane'
import type { Records, StorageSession } from '@ff/storage'
import * as z from 'zod'

/** An entry before it takes its place in a chain. */
export interface NewAuditEntry
  extends Omit<AuditEvent, 'id' | 'eventType' | 'sequence' | 'previousHash' | 'hash'> {
  readonly eventType: AuditEventType
}

/** As many digits as keep the order of the numbers. */
const SEQUENCE_DIGITS = 12

/** Where the next entry of a chain goes. */
interface Place {
  readonly chain: string
  readonly head: Records['auditHead'] | undefined
  readonly sequence: number
  /** The entry's id. */
  readonly id: string
}

/**
 * The only way to write the audit log: adds an entry to the end of its chain and moves the
 * chain's head. The transaction must be the only one that appends to the chain: it holds the lock
 * of the organization (`platform` where there is none), or, for log-ins, that of the chain; or it
 * founds the organization.
 */
export async function appendAudit(session: StorageSession, entry: NewAuditEntry): Promise<void> {
  await appendAt(session, entry, await findPlace(session, entry))
}

/**
 * Returns the place of an entry. `appendAt` must follow in the same transaction, before any other
 * entry is added to the chain.
 */
export async function findPlace(session: StorageSession, entry: NewAuditEntry): Promise<Place> {
  const { log = 'changes' }: AuditEventRow = auditEvents[entry.eventType]
  const chain = chainName(log, entry.orgId)
  const head = await session.find('auditHead', chain)
  const sequence = (head?.sequence ?? 0) + 1
  return { chain, head, sequence, id: entryId(chain, sequence) }
}

/** The second half of `appendAudit`. */
export async function appendAt(
  session: StorageSession,
  entry: NewAuditEntry,
  { chain, head, sequence, id }: Place,
): Promise<void> {
  const unsigned = { ...entry, id, sequence, previousHash: head?.hash ?? '' }
  const hash = await hashOf(unsigned)
  const position = positionAfter(head?.position, { sequence, createdAt: entry.createdAt })
  const next = { sequence, hash, position }
  await Promise.all([
    session.insert('auditEvent', { ...unsigned, hash, position }),
    head === undefined
      ? session.insert('auditHead', { id: chain, ...next })
      : session.update('auditHead', chain, next),
  ])
}

/** The name of a chain; `orgId` is empty for what belongs to no organization. */
export function chainName(log: AuditLog, orgId: string): string {
  return `${log}:${orgId === '' ? 'platform' : orgId}`
}

/** The id of a chain's entry. By code point, ids go chain by chain, in the order of the numbers. */
export function entryId(chain: string, sequence: number): string {
  return `${chain}:${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`
}

/** The name of the chain that an entry's id says it is of. */
export function chainIn(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(':')))
}

/** The hash that an entry has unless it was changed. Throws for what is not shaped like an entry. */
export async function hashOf(entry: Omit<AuditEvent, 'hash'>): Promise<string> {
  return sha256(await runInTimeSlices(signedText(entry)))
}

/** What is hashed of an entry. A long one is encoded and written in different turns of the event loop. */
function* signedText(entry: Omit<AuditEvent, 'hash'>): Generator<undefined, string> {
  const { hash: _, ...content } = z.encode(auditEventCodec, { ...entry, hash: '' })
  yield
  return yield* canonicalJsonIncrementally(
    content as Readonly<Record<string, z.core.util.JSONType>>,
  )
}

/**
 * Returns the position of an entry in lists by time: after the previous entry of its chain, whose
 * position is given, even if the clock was set back.
 */
export function positionAfter(
  previous: string | undefined,
  { sequence, createdAt }: Pick<AuditEvent, 'sequence' | 'createdAt'>,
): string {
  const earliest = previous?.slice(0, createdAt.length) ?? ''
  const time = createdAt > earliest ? createdAt : earliest
  return `${time} ${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`
}
