import type { ConditionDefinition } from '@ff/core'

const SEGMENT_OPERATORS = new Set(['in_segment', 'not_in_segment'])
const FLAG_OPERATORS = new Set(['flag_is', 'flag_is_not'])

/** Returns the ids of the segments that a condition refers to. */
export function segmentIdsOf({ operator, value }: ConditionDefinition): readonly string[] {
  return SEGMENT_OPERATORS.has(operator) ? textsOf(value) : []
}

/** Returns the key of the flag that a condition refers to, and the keys of its variations. */
export function flagReferenceOf({ attribute, operator, value }: ConditionDefinition) {
  if (!FLAG_OPERATORS.has(operator)) return undefined
  return { flagKey: attribute, variationKeys: textsOf(value) }
}

/** Returns the items of a JSON array as text, or the value itself. */
function textsOf(value: string): readonly string[] {
  if (!value.trimStart().startsWith('[')) return [value]
  try {
    const list: unknown = JSON.parse(value)
    return Array.isArray(list) ? list.map(textOf) : [value]
  } catch {
    return [value]
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
