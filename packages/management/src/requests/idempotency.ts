import { FlagError, type JsonValue } from '@ff/core'
import { newId } from '@ff/server/plane'
import type { IdempotencyRecord, StorageSession } from '@ff/storage'

/** A request that may be repeated and is applied once. */
export interface IdempotentRequest {
  /** Identifies the request: a hash of its actor, endpoint, path and key. */
  readonly scope: string
  /** A hash of what was sent: the same scope with another body is a mistake. */
  readonly bodyHash: string
}

const REMEMBERED_MS = 24 * 60 * 60 * 1000

/** Returns the record of an earlier request; throws `CONFLICT` if that had another body. */
export async function findEarlierResult(
  session: StorageSession,
  request: IdempotentRequest | undefined,
  now: string,
): Promise<IdempotencyRecord | undefined> {
  if (request === undefined) return undefined
  const { scope, bodyHash } = request
  const record = (await session.list('idempotencyRecord', { where: { scope }, limit: 1 })).data[0]
  if (record === undefined || record.expiresAt <= now) return undefined
  if (record.bodyHash === bodyHash) return record
  throw new FlagError('CONFLICT', 'This Idempotency-Key was used for another body.')
}

/**
 * Stores the result of a request, in the transaction of its change, and deletes expired results, so
 * that there are never more of them than one day needs.
 */
export async function rememberResult(
  session: StorageSession,
  request: IdempotentRequest | undefined,
  { result, now }: { readonly result: unknown; readonly now: string },
): Promise<void> {
  if (request === undefined) return
  await session.purge('idempotencyRecord', { range: { field: 'expiresAt', to: afterTime(now) } })
  await session.insert('idempotencyRecord', {
    ...request,
    id: newId(),
    result: JSON.parse(JSON.stringify(result)) as JsonValue,
    expiresAt: new Date(Date.parse(now) + REMEMBERED_MS).toISOString(),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    revision: 1,
  })
}

/** Returns the end of a range that includes a time. */
function afterTime(now: string): string {
  return new Date(Date.parse(now) + 1).toISOString()
}
