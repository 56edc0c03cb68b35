import { FlagError } from '@ff/core'
import type { Kind } from './records.ts'
import type { PurgeQuery } from './storage.ts'

/** Throws `INTERNAL` if the query has no condition and would match all records of the kind. */
export function refuseToPurgeAll<K extends Kind>({ where = {}, range }: PurgeQuery<K>): void {
  const conditions = [...Object.values(where), range?.from, range?.to]
  if (conditions.some((condition) => condition !== undefined)) return
  throw new FlagError('INTERNAL', 'A purge must have a condition in `where` or `range`.')
}
