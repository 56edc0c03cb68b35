import { FlagError } from '@ff/core'
import type { Kind } from './records.ts'
import type { ContextSample, PurgeQuery } from './storage.ts'

/** U+0000, and surrogates without their other half: not every database can keep them. */
const UNSTORABLE = /[\0\p{Cs}]/gu

/**
 * The context sample as every store keeps it: with U+FFFD in place of each U+0000 and unpaired
 * surrogate. Throws `INVALID_REQUEST` if one of its numbers is not finite.
 */
export function storableContextSample(sample: ContextSample): ContextSample {
  assertFinite(sample)
  return withStorableTexts(sample)
}

/** The conditions of a query with the texts under which context samples are kept. */
export function storableWhere<K extends Kind>(
  kind: K,
  where: PurgeQuery<K>['where'] = {},
): NonNullable<PurgeQuery<K>['where']> {
  return kind === 'observedContext' ? withStorableTexts(where) : where
}

/** Throws `INVALID_REQUEST` if one of the fields is a number that is not finite. */
export function assertFinite(fields: object): void {
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value !== 'number' || Number.isFinite(value)) continue
    throw new FlagError('INVALID_REQUEST', `${field} must be a finite number (got ${value}).`)
  }
}

/** A copy of a JSON value, its texts and names with U+FFFD in place of what cannot be kept. */
function withStorableTexts<T>(value: T): T {
  if (typeof value === 'string') return value.replace(UNSTORABLE, '\uFFFD') as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withStorableTexts) as T
  const members = Object.entries(value).map(([name, part]) => {
    return [withStorableTexts(name), withStorableTexts(part)] as const
  })
  return Object.fromEntries(members) as T
}
