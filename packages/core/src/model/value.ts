import { FlagError } from './errors.ts'
import type { JsonValue } from './json.ts'

/** The type of all values of a flag. */
export type FlagValueType = 'boolean' | 'string' | 'number' | 'json'
/** The value that a flag serves. */
export type FlagValue = JsonValue

/**
 * Values by flag key. The engine creates the object without a prototype, so that `__proto__` is an
 * ordinary key.
 */
export type FlagValues = Readonly<Record<string, FlagValue>>

/** The maximum depth of nested arrays and objects in a `json` value. */
export const MAX_VALUE_NESTING = 64

/**
 * Parses the value of a variation by the type of its flag. `boolean` values are `true` or `false`,
 * `number` values are finite JSON numbers, and `json` values are any JSON. The result is deeply
 * frozen. Throws `INVALID_DEFINITION` if the text is not a value of the type.
 */
export function parseFlagValue(type: FlagValueType, text: string): FlagValue {
  if (typeof text !== 'string') throw invalid('The value of a variation must be a string')
  switch (type) {
    case 'boolean':
      if (text === 'true') return true
      if (text === 'false') return false
      throw invalid('A boolean value must be `true` or `false`')
    case 'string':
      return text
    case 'number':
      return parseNumber(text)
    case 'json':
      return normalize(parseJson(text, 'A json value must be JSON'), 0)
    default:
      throw invalid('The type of a flag must be `boolean`, `string`, `number` or `json`')
  }
}

function parseNumber(text: string): number {
  const expected = 'A number value must be a JSON number, such as `-1.5`'
  const value = parseJson(text, expected)
  if (typeof value !== 'number') throw invalid(expected)
  return normalizeNumber(value)
}

function parseJson(text: string, expected: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (cause) {
    throw invalid(expected, cause)
  }
}

/** Replaces -0 by 0, and throws for 1e999. `JSON.stringify` preserves neither of these numbers. */
function normalizeNumber(value: number): number {
  if (!Number.isFinite(value)) throw invalid('A number is too large')
  return value === 0 ? 0 : value
}

function normalize(value: JsonValue, depth: number): JsonValue {
  if (typeof value === 'number') return normalizeNumber(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_VALUE_NESTING) {
    throw invalid(`A value must not nest more than ${MAX_VALUE_NESTING} levels deep`)
  }
  if (Array.isArray(value)) return Object.freeze(value.map((item) => normalize(item, depth + 1)))
  const members = Object.entries(value)
  // `fromEntries` defines properties, so that `__proto__` is an ordinary name.
  return Object.freeze(
    Object.fromEntries(members.map(([name, member]) => [name, normalize(member, depth + 1)])),
  )
}

function invalid(message: string, cause?: unknown): FlagError {
  return new FlagError('INVALID_DEFINITION', message, { cause })
}
