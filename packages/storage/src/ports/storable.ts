import { FlagError } from '@ff/core'
import type { Kind } from './records.ts'
import type { ContextSample, PurgeQuery } from './storage.ts'

/** U+0000 and unpaired surrogates, which not every database can store. */
const UNSTORABLE = /[\0\p{Cs}]/gu

/**
 * Returns the context sample in the form that every store saves: U+FFFD replaces each U+0000 and
 * each unpaired surrogate. Throws `INVALID_REQUEST` if a number in the sample is not finite.
 */
export function storableContextSample(sample: ContextSample): ContextSample {
  assertFinite(sample)
  return withStorableTexts(sample)
}

/**
 * Returns the `where` of a query. For observed contexts, U+FFFD replaces the same characters as in
 * context samples.
 */
export function storableWhere<K extends Kind>(
  kind: K,
  where: PurgeQuery<K>['where'] = {},
): NonNullable<PurgeQuery<K>['where']> {
  return kind === 'observedContext' ? withStorableTexts(where) : where
}

/** Throws `INVALID_REQUEST` if the value of a field is a number that is not finite. */
export function assertFinite(fields: object): void {
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value !== 'number' || Number.isFinite(value)) continue
    throw new FlagError('INVALID_REQUEST', `\`${field}\` must be a finite number (got ${value}).`)
  }
}

/** Returns a copy of a JSON value without unstorable characters in its strings and names. */
function withStorableTexts<T>(value: T): T {
  if (typeof value === 'string') return value.replace(UNSTORABLE, '\uFFFD') as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withStorableTexts) as T
  const members = Object.entries(value).map(([name, part]) => {
    return [withStorableTexts(name), withStorableTexts(part)] as const
  })
  return Object.fromEntries(members) as T
}
