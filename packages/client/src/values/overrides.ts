import type { FlagType } from '@ff/core/flag-types'
import { jsonIn } from '../json/json.ts'

type Types = ReadonlyMap<string, FlagType<unknown>>

/**
 * Returns the values in a query such as `?ff.theme=dark`, by flag key. A value is JSON or text.
 * Unknown flags and values of another type are ignored.
 */
export function overridesIn(query: string, types: Types): ReadonlyMap<string, unknown> {
  const overrides = new Map<string, unknown>()
  for (const [, name = '', text = ''] of query.matchAll(/[?&]ff\.([^&=]+)=([^&]*)/g)) {
    const key = decoded(name)
    const type = types.get(key)
    const value = [jsonIn(decoded(text)), decoded(text)].find((each) => type?.isValue(each))
    if (value !== undefined) overrides.set(key, value)
  }
  return overrides
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
