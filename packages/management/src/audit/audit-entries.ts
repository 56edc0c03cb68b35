import { isFlagError } from '@ff/core'
import { isLongerJson } from '@ff/server/plane'
import type { Records, StorageSession } from '@ff/storage'
import type { AuditWalk } from './audit-walks.ts'

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
