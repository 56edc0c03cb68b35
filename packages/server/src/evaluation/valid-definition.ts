import { FlagError, type FlagSet, type FlagSetDefinition, type Issue } from '@ff/core'
import { definitionFaultIncrementally, findErrors } from '@ff/core/authoring'

/**
 * Throws `INVALID_DEFINITION` if a definition must not be evaluated: a field has the wrong type or
 * is out of range, or two flags have the same key. Skips flags and segments that `known` contains
 * as the same objects, because they were checked before. The check can be interrupted at each
 * `yield`.
 */
export function* assertValidDefinition(
  definition: FlagSetDefinition,
  known?: FlagSetDefinition,
): Generator<undefined, void> {
  const checked = new Set(known === undefined ? [] : [...known.flags, ...known.segments])
  const fault = yield* definitionFaultIncrementally(definition, checked)
  if (fault !== undefined) throw invalidDefinition(located(definition, fault))
  const keys = new Set<string>()
  for (const { key } of definition.flags) {
    if (keys.has(key)) throw invalidDefinition(`two flags have the key "${key}"`)
    keys.add(key)
  }
}

/**
 * Throws `INVALID_DEFINITION` if `after` has a fault, such as a broken reference, that `before`
 * does not have.
 */
export function assertNoNewFaults(after: FlagSet, before: FlagSet): void {
  const known = new Set(findErrors(before).map(({ message }) => message))
  const fault = findErrors(after).find(({ message }) => !known.has(message))
  if (fault !== undefined) {
    throw invalidDefinition(`${fault.flagKey ?? fault.segmentId ?? 'a part'}: ${fault.message}`)
  }
}

/**
 * Returns the path and the message of a fault. If a flag or segment has the fault, its key is
 * included.
 */
function located(definition: FlagSetDefinition, { path, message }: Issue): string {
  const [list, index] = path.split('.')
  const isInList = (list === 'flags' || list === 'segments') && index !== undefined
  // The definition is not valid, so a flag or segment can be any value.
  const part: { readonly key?: unknown } = isInList ? (definition[list][+index] ?? {}) : {}
  const key = typeof part.key === 'string' ? ` (key "${part.key}")` : ''
  return `${path}${key} ${message}`
}

function invalidDefinition(fault: string): FlagError {
  return new FlagError('INVALID_DEFINITION', `The flag set is not valid: ${fault}.`)
}
