import type { FlagType } from '@ff/core/flag-types'
import { jsonIn } from '../json/json.ts'

const PREFIX = 'ff.'

/** A global that most platforms have. */
declare const URLSearchParams: new (
  query: string,
) => Iterable<readonly [name: string, text: string]>

type Types = ReadonlyMap<string, FlagType<unknown>>

/**
 * Returns the values in a query such as `?ff.theme=dark`, by flag key. A value is JSON or text.
 * Unknown flags and values of another type are ignored.
 */
export function overridesIn(query: string, types: Types): ReadonlyMap<string, unknown> {
  const overrides = new Map<string, unknown>()
  for (const [name, text] of new URLSearchParams(query)) {
    const key = name.slice(PREFIX.length)
    const type = name.startsWith(PREFIX) ? types.get(key) : undefined
    const value = [jsonIn(text), text].find((each) => type?.isValue(each))
    if (value !== undefined) overrides.set(key, value)
  }
  return overrides
}
