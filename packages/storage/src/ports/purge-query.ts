import { FlagError } from '@ff/core'
import type { Kind } from './records.ts'
import type { PurgeQuery } from './storage.ts'

/** Throws `INTERNAL` for a query that all records of the kind would match. */
export function refuseToPurgeAll<K extends Kind>({ where = {}, range }: PurgeQuery<K>): void {
  const conditions = [...Object.values(where), range?.from, range?.to]
  if (conditions.some((condition) => condition !== undefined)) return
  throw new FlagError('INTERNAL', 'A purge must say which records it is for.')
}
