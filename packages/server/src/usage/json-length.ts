import type { JsonValue } from '@ff/core'

/**
 * Returns `true` if the JSON text of a value is certainly longer than `length` UTF-16 units. Stops
 * reading the value when the limit is reached. If it returns `false`, the text may still be longer,
 * because an escaped character counts as one unit.
 */
export function isLongerJson(value: object, length: number): boolean {
  return roomAfter(value as JsonValue, length) < 0
}

/**
 * Returns the room that is left after a value; negative, but not exact, if the value does not fit.
 */
function roomAfter(value: JsonValue, room: number): number {
  if (typeof value === 'string') return room - value.length - 2
  if (typeof value !== 'object' || value === null) return room - String(value).length
  let left = room - 1
  if (Array.isArray(value)) {
    for (const element of value) {
      left = roomAfter(element, left - 1)
      if (left < 0) break
    }
    return left
  }
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, JsonValue | undefined>>)[name]
    if (member !== undefined) left = roomAfter(member, left - name.length - 4)
    if (left < 0) break
  }
  return left
}
