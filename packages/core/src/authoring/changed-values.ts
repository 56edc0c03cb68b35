import { jsonEquals } from '../model/json.ts'
import type { FlagValue, FlagValues } from '../model/value.ts'

/** The changes between two objects of values: the new and changed values, and the removed keys. */
export interface ValueChanges {
  readonly flags: FlagValues
  readonly removed: readonly string[]
}

/** Returns the changes that turn `before` into `after`. */
export function changedValues(before: FlagValues, after: FlagValues): ValueChanges {
  const flags: Record<string, FlagValue> = Object.create(null)
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    if (old === undefined || !jsonEquals(old, value)) flags[key] = value
  }
  return { flags, removed: Object.keys(before).filter((key) => !Object.hasOwn(after, key)) }
}
