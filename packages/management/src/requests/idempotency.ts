import { FlagError, isFlagError, type JsonValue } from '@ff/core'
import { newId } from '@ff/server/plane'
import type { Changes, IdempotencyRecord, StorageSession } from '@ff/storage'

/** A request that may be sent again, and must be done only once. */
export interface IdempotentRequest {
  /** Identifies the request: a hash of its actor, endpoint, path and key. */
  readonly scope: string
  /** A hash of what was sent: the same scope with another body is a mistake. */
  readonly bodyHash: string
}

/** What a request was answered the first time. */
export interface EarlierResult {
  readonly result: JsonValue
}

const REMEMBERED_MS = 24 * 60 * 60 * 1000

/** What this request was answered, if it was; throws `CONFLICT` if its key came with another body. */
export async function findEarlierResult(
  session: StorageSession,
  request: IdempotentRequest | undefined,
  now: string,
): Promise<EarlierResult | undefined> {
  if (request === undefined) return undefined
  const { scope, bodyHash } = request
  const record = (await session.list('idempotencyRecord', { where: { scope }, limit: 1 })).data[0]
  if (record === undefined || record.expiresAt <= now) return undefined
  if (record.bodyHash === bodyHash) return record
  throw new FlagError('CONFLICT', 'This Idempotency-Key was used for another body.')
}

/**
 * Keeps what a request is answered, in the transaction of what it did. Expired records are used
 * again, so that there are never more of them than one day has needed.
 */
export async function rememberResult(
  session: StorageSession,
  request: IdempotentRequest | undefined,
  { result, now }: { readonly result: unknown; readonly now: string },
): Promise<void> {
  if (request === undefined) return
  const expiresAt = new Date(Date.parse(now) + REMEMBERED_MS).toISOString()
  const plain = JSON.parse(JSON.stringify(result)) as JsonValue
  const fields = { ...request, result: plain, expiresAt, updatedAt: now }
  const expired = await findExpired(session, request, now)
  if (expired !== undefined && (await replace(session, expired, fields))) return
  const frame = { id: newId(), createdAt: now, deletedAt: null, revision: 1 }
  await session.insert('idempotencyRecord', { ...fields, ...frame })
}

/** False when another organization's request, under a lock of its own, has just taken it. */
async function replace(
  session: StorageSession,
  { id, revision }: IdempotencyRecord,
  fields: Changes<'idempotencyRecord'>,
): Promise<boolean> {
  try {
    const changes = { ...fields, revision: revision + 1 }
    await session.update('idempotencyRecord', id, changes, revision)
    return true
  } catch (error) {
    if (isFlagError(error) && error.code === 'CONFLICT') return false
    throw error
  }
}

/** One of its own scope, which no other may share, before any other. */
async function findExpired(session: StorageSession, { scope }: IdempotentRequest, now: string) {
  const own = await session.list('idempotencyRecord', { where: { scope }, limit: 1 })
  if (own.data[0] !== undefined) return own.data[0]
  const range = { field: 'expiresAt', to: now } as const
  const sort = { field: 'expiresAt', direction: 'asc' } as const
  return (await session.list('idempotencyRecord', { range, sort, limit: 1 })).data[0]
}
