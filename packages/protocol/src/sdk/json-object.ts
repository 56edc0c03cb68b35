import type { JsonObject } from '@ff/core'

/** The value itself when it is a JSON object (not an array, not null). For parsed JSON only. */
export function asJsonObject(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as JsonObject
}

/** An own property; what is inherited is not there. */
export function ownProperty(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
