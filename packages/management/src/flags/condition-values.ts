import type { ConditionDefinition } from '@ff/core'

/** The condition values of one environment may have so many bytes of UTF-8 text together. */
export const MAX_CONDITION_VALUE_BYTES = 16 * 1024 * 1024

const encoder = new TextEncoder()

/** The length of all values of these conditions together, in bytes of UTF-8. */
export function conditionValueBytes(conditions: readonly ConditionDefinition[]): number {
  return conditions.reduce((sum, { value }) => sum + encoder.encode(value).byteLength, 0)
}
