import type { ConditionDefinition } from '@ff/core'

const SEGMENT_OPERATORS = new Set(['in_segment', 'not_in_segment'])
const FLAG_OPERATORS = new Set(['flag_is', 'flag_is_not'])

/** The segments that a condition asks about. */
export function segmentIdsOf({ operator, value }: ConditionDefinition): readonly string[] {
  return SEGMENT_OPERATORS.has(operator) ? textsOf(value) : []
}

/** The flag that a condition asks about, and the variations of it that it names. */
export function flagQuestionOf({ attribute, operator, value }: ConditionDefinition) {
  if (!FLAG_OPERATORS.has(operator)) return undefined
  return { flagKey: attribute, variationKeys: textsOf(value) }
}

/** The one text, or the texts of a JSON array. */
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
