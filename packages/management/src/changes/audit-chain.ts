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

/** An entry before it is added to a chain. */
export interface NewAuditEntry
  extends Omit<AuditEvent, 'id' | 'eventType' | 'sequence' | 'previousHash' | 'hash'> {
  readonly eventType: AuditEventType
}

/**
 * The number of digits to which sequence numbers are padded, so that they sort correctly as text.
 */
const SEQUENCE_DIGITS = 12

/** The place of the next entry of a chain. */
interface Place {
  readonly chain: string
  readonly head: Records['auditHead'] | undefined
  readonly sequence: number
  /** The id of the entry. */
  readonly id: string
}

/**
 * Appends an entry to its chain and moves the head of the chain. Only `appendAudit` and `appendAt`
 * write the audit log. Other transactions must not append to the chain at the same time. Therefore,
 * the transaction must have the lock of the organization (`platform` if there is none) or, for
 * log-ins, the lock of the chain, or it must create the organization. Returns the stored entry.
 */
export async function appendAudit(
  session: StorageSession,
  entry: NewAuditEntry,
): Promise<Records['auditEvent']> {
  return appendAt(session, entry, await findPlace(session, entry))
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

/**
 * Appends an entry at the place that `findPlace` returned in the same transaction, and returns the
 * stored entry.
 */
export async function appendAt(
  session: StorageSession,
  entry: NewAuditEntry,
  { chain, head, sequence, id }: Place,
): Promise<Records['auditEvent']> {
  const unsigned = { ...entry, id, sequence, previousHash: head?.hash ?? '' }
  const hash = await hashOf(unsigned)
  const position = positionAfter(head?.position, { sequence, createdAt: entry.createdAt })
  const next = { sequence, hash, position }
  const stored = { ...unsigned, hash, position }
  await Promise.all([
    session.insert('auditEvent', stored),
    head === undefined
      ? session.insert('auditHead', { id: chain, ...next })
      : session.update('auditHead', chain, next),
  ])
  return stored
}

/** Returns the name of a chain. `orgId` is empty for the entries that belong to no organization. */
export function chainName(log: AuditLog, orgId: string): string {
  return `${log}:${orgId === '' ? 'platform' : orgId}`
}

/** Returns the id of an entry. Ids sort by chain, then by sequence number. */
export function entryId(chain: string, sequence: number): string {
  return `${chain}:${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`
}

/** Returns the name of the chain from the id of an entry; empty if the id has no colon. */
export function chainIn(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(':')))
}

/**
 * Computes the hash of an entry. The hash differs from the stored hash if the entry was changed.
 * Throws if `entry` does not have the fields of an entry.
 */
export async function hashOf(entry: Omit<AuditEvent, 'hash'>): Promise<string> {
  return sha256(await runInTimeSlices(signedText(entry)))
}

/** Returns the text that is hashed. A long entry is encoded in several turns of the event loop. */
function* signedText(entry: Omit<AuditEvent, 'hash'>): Generator<undefined, string> {
  const { hash: _, comment, ...rest } = z.encode(auditEventCodec, { ...entry, hash: '' })
  yield
  // Entries that are older than comments were hashed without this field.
  const content = comment === null ? rest : { ...rest, comment }
  return yield* canonicalJsonIncrementally(
    content as Readonly<Record<string, z.core.util.JSONType>>,
  )
}

/**
 * Returns the position of an entry in lists that are sorted by time. The position sorts after
 * `previous`, the position of the previous entry of the chain, even if the clock was set back.
 */
export function positionAfter(
  previous: string | undefined,
  { sequence, createdAt }: Pick<AuditEvent, 'sequence' | 'createdAt'>,
): string {
  const earliest = previous?.slice(0, createdAt.length) ?? ''
  const time = createdAt > earliest ? createdAt : earliest
  return `${time} ${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`
}
