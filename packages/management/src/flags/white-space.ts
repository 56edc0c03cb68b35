import type { Condition, FlagState } from '@ff/protocol/management'
import { invalid } from '../requests/validation.ts'

type Targets = FlagState['targets']

/** The operators whose values are compared as a whole with each entry of a list. */
const MEMBERSHIP: ReadonlySet<string> = new Set(['in', 'not_in', 'in_ci', 'not_in_ci'])

/** Returns the fault of an entry of a list; `undefined` if it has no white space at its ends. */
function faultOf(text: string): string | undefined {
  if (text === text.trim()) return undefined
  return `begins or ends with white space, so that it matches no trimmed text: ${JSON.stringify(text)}`
}

/** Throws `INVALID_REQUEST` if a new key of a list begins or ends with white space. */
export function assertTrimmed(field: string, keys: readonly string[]): void {
  for (const [index, key] of keys.entries()) {
    const fault = faultOf(key)
    if (fault !== undefined) throw invalid(`${field}.${index}`, fault)
  }
}

/** Does the same for the keys of targets. Keys that the stored targets contain are not refused. */
export function assertTrimmedTargets(targets: Targets, stored: Targets): void {
  const known = new Set(stored.flatMap(({ keys }) => keys))
  for (const [index, { keys }] of targets.entries()) {
    for (const [at, key] of keys.entries()) {
      const fault = known.has(key) ? undefined : faultOf(key)
      if (fault !== undefined) throw invalid(`targets.${index}.keys.${at}`, fault)
    }
  }
}

/** Returns the fault of the first entry of a condition's list that is not trimmed. */
export function untrimmedFault({ operator, value }: Condition): string | undefined {
  if (!MEMBERSHIP.has(operator)) return undefined
  const fault = entriesOf(value)
    .map(faultOf)
    .find((each) => each !== undefined)
  return fault === undefined ? undefined : `An entry of the list ${fault}`
}

/** Returns the texts of a JSON array. Any other value is a list with itself as its only entry. */
function entriesOf(value: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(value)
    if (Array.isArray(list)) return list.filter((each) => typeof each === 'string')
  } catch {
    // The value is not JSON.
  }
  return [value]
}
