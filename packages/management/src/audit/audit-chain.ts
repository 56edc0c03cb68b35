import { isFlagError } from '@ff/core'
import { canonicalJsonIncrementally } from '@ff/core/fingerprint'
import {
  type AuditEvent,
  type AuditEventRow,
  type AuditEventType,
  type AuditLog,
  auditEventCodec,
  auditEvents,
} from '@ff/protocol/management'
import { isLongerJson, runInTimeSlices, sha256 } from '@ff/server/plane'
import type { Records, StorageSession } from '@ff/storage'
import * as z from 'zod'
import type { AuditWalk } from './audit-walks.ts'

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

/** How many entries are read at a time at most, so that decoding them takes no longer than a slice. */
const PAGE = 32

/** Entries with more characters of JSON than this are read one at a time. */
const LARGE = 16 * 1024

/** Whether a read failed because of what is stored, not because the store is away or refuses. */
export function isDamage(error: unknown): boolean {
  return !isFlagError(error) || error.code === 'INTERNAL'
}

/**
 * All entries of an organization, or of the whole installation, chain by chain in the order of
 * their numbers, in the slices of a walk. Holds at most one page of them. An entry that cannot be
 * read ends it, after all entries before it, with an error that is no `FlagError`.
 */
export async function* entriesInOrder(
  reader: Pick<StorageSession, 'list'>,
  where: Pick<Partial<Records['auditEvent']>, 'orgId'>,
  walk: Pick<AuditWalk, 'nextSlice'>,
): AsyncGenerator<Records['auditEvent'], void> {
  let most = PAGE
  let limit = most
  for (let from = ''; ; ) {
    try {
      const range = { field: 'id', from } as const
      const { data } = await reader.list('auditEvent', { where, range, limit, isCounted: false })
      let slice = await walk.nextSlice()
      for (const entry of data) {
        if (!slice.take()) slice = await walk.nextSlice()
        yield entry
      }
      const last = data.at(-1)
      if (last === undefined || data.length < limit) return
      // Not a space: no entry that sorts between two ids may be skipped.
      from = `${last.id}\u0001`
      limit = data.some(isLarge) ? 1 : most
    } catch (error) {
      if (!isDamage(error) || limit === 1) throw error
      most = 1
      limit = 1
    }
  }
}

function isLarge({ payload }: Records['auditEvent']): boolean {
  return isLongerJson(Object(payload), LARGE)
}
