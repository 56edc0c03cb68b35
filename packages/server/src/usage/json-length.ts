import type { JsonValue } from '@ff/core'

/**
 * Whether the JSON text of a value is certainly longer than so many characters. Looks at no more of
 * the value than would fill them. `false` promises less: escaped characters count once.
 */
export function isLongerJson(value: object, length: number): boolean {
  return roomAfter(value as JsonValue, length) < 0
}

/** What is left of so much room after a value; negative, and not exact, if it is too little. */
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
