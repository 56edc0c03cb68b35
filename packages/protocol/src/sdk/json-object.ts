import type { JsonObject } from '@ff/core'

/**
 * Returns a parsed JSON value if it is an object, otherwise `undefined`. Arrays and `null` are not
 * objects.
 */
export function asJsonObject(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as JsonObject
}

/** Returns an own property; `undefined` if the property is absent or inherited. */
export function ownProperty(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns a value if it is a whole number from 0 to 2^53 − 1, otherwise `undefined`. */
export function asWholeNumber(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined
}
