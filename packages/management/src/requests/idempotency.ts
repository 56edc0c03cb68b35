import { FlagError, type JsonValue } from '@ff/core'
import { hashSecret, newId } from '@ff/server/plane'
import type { IdempotencyRecord, StorageSession } from '@ff/storage'

/** A request that a client can repeat and that is applied only one time. */
export interface IdempotentRequest {
  readonly actorId: string
  readonly endpoint: string
  /** The key that the client has chosen. */
  readonly key: string
  /** A hash of the body. A different body with the same scope is an error. */
  readonly bodyHash: string
}

/** A repeatable request for the records that its path names. */
interface ScopedRequest extends Pick<IdempotentRequest, 'bodyHash'> {
  /** A hash of the actor, endpoint, ids and idempotency key, which identifies the request. */
  readonly scope: string
}

/**
 * Adds the scope to a repeatable request. The scope contains the ids of the loaded records, so that
 * a key that names another record by then belongs to another scope.
 */
export async function withScope(
  request: IdempotentRequest | undefined,
  ids: object,
): Promise<ScopedRequest | undefined> {
  if (request === undefined) return undefined
  const { actorId, endpoint, key, bodyHash } = request
  return { bodyHash, scope: await hashSecret(JSON.stringify([actorId, endpoint, ids, key])) }
}

const LIFETIME_MS = 24 * 60 * 60 * 1000

/**
 * Returns the record of an earlier request with the same scope; `undefined` if there is none.
 * Throws `CONFLICT` if that request had another body.
 */
export async function findEarlierResult(
  session: StorageSession,
  request: ScopedRequest | undefined,
  now: string,
): Promise<IdempotencyRecord | undefined> {
  if (request === undefined) return undefined
  const { scope, bodyHash } = request
  const record = (await session.list('idempotencyRecord', { where: { scope }, limit: 1 })).data[0]
  if (record === undefined || record.expiresAt <= now) return undefined
  if (record.bodyHash === bodyHash) return record
  throw new FlagError('CONFLICT', 'The Idempotency-Key was already used with another body.')
}

/**
 * Stores the result of a request in the transaction of its change. Also deletes expired results, so
 * that at most the results of one day are stored.
 */
export async function rememberResult(
  session: StorageSession,
  request: ScopedRequest | undefined,
  { result, now }: { readonly result: unknown; readonly now: string },
): Promise<void> {
  if (request === undefined) return
  await session.purge('idempotencyRecord', { range: { field: 'expiresAt', to: afterTime(now) } })
  await session.insert('idempotencyRecord', {
    ...request,
    id: newId(),
    result: JSON.parse(JSON.stringify(result)) as JsonValue,
    expiresAt: new Date(Date.parse(now) + LIFETIME_MS).toISOString(),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    revision: 1,
  })
}

/** Returns the exclusive end of a range that includes `now`. */
function afterTime(now: string): string {
  return new Date(Date.parse(now) + 1).toISOString()
}
