import { isFlagError } from '@ff/core'
import { isLongerJson } from '@ff/server/plane'
import type { Records, StorageSession } from '@ff/storage'
import type { AuditWalk } from './audit-walks.ts'

/**
 * The maximum number of entries per read. Decoding this number of entries takes no longer than one
 * time slice.
 */
const PAGE = 32

/** A number of JSON characters. After a longer payload, the next read returns only one entry. */
const LARGE = 16 * 1024

/**
 * Returns `true` if a read failed because of damaged data, not because the store is unavailable.
 */
export function isDamage(error: unknown): boolean {
  return !isFlagError(error) || error.code === 'INTERNAL'
}

/**
 * Yields all audit entries of an organization, or of the whole installation if `where` is empty,
 * chain by chain in the order of their sequence numbers. The work runs in the time slices of `walk`
 * and keeps at most one page of entries in memory. If an entry cannot be read, yields all entries
 * before that entry, then throws an error for which `isDamage` returns `true`.
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
      // U+0001 sorts before every printable character, so that no later id is skipped.
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
