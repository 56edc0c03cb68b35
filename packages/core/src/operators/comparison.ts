import { compareCodePoints } from '../model/code-point.ts'
import type { Extensions } from '../model/extensions.ts'
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '../model/json.ts'
import { parseTimestamp } from '../model/timestamp.ts'
import { parseSemver, type Semver, semverKey } from './semver.ts'

/** Whether an attribute's value compares as the operator says. */
export type Test = (value: JsonValue) => TestResult

/**
 * `undefined`: the value is not of the type that is compared. `unreadable`: it is, but comparing it
 * would cost too much; the condition does not hold, negated or not.
 */
export type TestResult = boolean | undefined | 'unreadable'

/** What the value of a condition must be. */
export type Expectation =
  | 'conditions'
  | 'timestamp'
  | 'list'
  | 'network'
  | 'number'
  | 'pattern'
  | 'range'
  | 'remainder'
  | 'share'
  | 'size'
  | 'text'
  | 'texts'
  | 'types'
  | 'version'
  | 'versions'

export interface Comparison {
  readonly expects: Expectation
  /**
   * Reads the value of a condition, once; undefined: it is not what was expected. `isNegated`: the
   * operator is a negative one, or the condition has `negate`, or both.
   */
  readonly read: (value: string, means: Means, isNegated?: boolean) => Test | undefined
  /** An array is compared as a whole only, not element by element too. */
  readonly isOfWhole?: true
}

/** What reading a value may take beside the value itself. */
export interface Means {
  readonly extensions: Extensions
  /** Records an extension that is needed and missing. */
  reportMissing(extension: string): undefined
  /** Reads conditions on the elements of an attribute; `undefined` if one cannot be read. */
  readElementConditions(definitions: JsonArray): ElementConditions | undefined
  /**
   * Returns a function that makes something when it is first called, and then keeps it. What takes
   * long belongs into it: most conditions are compiled more often than they are evaluated.
   */
  lazily<Result extends object>(make: () => Result): () => Result
}

/** Conditions on one element. */
export interface ElementConditions {
  /** Whether all hold for the element. */
  readonly hold: (element: JsonValue) => boolean
  /** How many there are, those on elements of elements included. */
  readonly count: number
  /** How many of these search for a pattern. */
  readonly patterns: number
}

/** What is done to two texts before they are compared. */
export type Fold = (text: string) => string

/** Any value that is there. */
export const existence: Comparison = { expects: 'text', read: () => () => true }

export const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => asFinite(value) !== undefined,
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isJsonObject,
  semver: (value) => asSemver(value) !== undefined,
}

/** Of one of the types listed. */
export const type: Comparison = {
  expects: 'types',
  read: (value) => {
    const texts = parseTexts(value)
    const names = texts && [...new Set(texts)]
    if (names?.every((name) => Object.hasOwn(TYPES, name)) !== true) return undefined
    const checks = names.map((name) => TYPES[name])
    return (candidate) => checks.some((isOfType) => isOfType?.(candidate))
  },
  isOfWhole: true,
}

/** Text before or after another by code point. */
export function ordered(holds: (order: number) => boolean): Comparison {
  return against({
    expects: 'text',
    readValue: (value) => value,
    readAttribute: asText,
    holds: (text, value) => holds(compareCodePoints(text, value)),
  })
}

/** A number, or text that is one, against a number. */
export function numeric(holds: (attribute: number, value: number) => boolean): Comparison {
  return against({ expects: 'number', readValue: parseDecimal, readAttribute: asNumber, holds })
}

export const greater = numeric((attribute, value) => attribute > value)
export const greaterOrEqual = numeric((attribute, value) => attribute >= value)
export const less = numeric((attribute, value) => attribute < value)
export const lessOrEqual = numeric((attribute, value) => attribute <= value)

/** A number, or text that is one, within both ends of a range. */
export const range: Comparison = against({
  expects: 'range',
  readValue: (value) => {
    const [low, high, ...rest] = parseArray(value)?.map(asNumber) ?? []
    if (low === undefined || high === undefined || rest.length > 0 || low > high) return undefined
    return { low, high }
  },
  readAttribute: asNumber,
  holds: (number, { low, high }) => low <= number && number <= high,
})

/** A number, or text that is one, by what dividing it leaves; the sign is the dividend's. */
export const remainder: Comparison = against({
  expects: 'remainder',
  readValue: (value) => {
    const [divisor, wanted, ...rest] = value.split('|').map(parseDecimal)
    if (divisor === undefined || wanted === undefined || rest.length > 0) return undefined
    return divisor === 0 ? undefined : { divisor, wanted }
  },
  readAttribute: asNumber,
  holds: (number, { divisor, wanted }) => number % divisor === wanted,
})

/** An RFC 3339 text, or a number of epoch milliseconds, against another. */
export function temporal(holds: (attribute: number, value: number) => boolean): Comparison {
  return against({
    expects: 'timestamp',
    readValue: (value) => parseTimestamp(value) ?? parseDecimal(value),
    readAttribute: (value) => parsed(value, parseTimestamp) ?? asFinite(value),
    holds,
  })
}

/** A version against a version. */
export function versioned(holds: (attribute: Semver, value: Semver) => boolean): Comparison {
  return against({ expects: 'version', readValue: parseSemver, readAttribute: asSemver, holds })
}

/** A version whose precedence equals that of any of a list. */
export const versionMembership: Comparison = against({
  expects: 'versions',
  readValue: (value) => {
    const versions = parseTexts(value)?.map(parseSemver)
    const known = versions?.filter((version) => version !== undefined)
    return known?.length === versions?.length ? known && new Set(known.map(semverKey)) : undefined
  },
  readAttribute: asSemver,
  holds: (version, keys) => keys.has(semverKey(version)),
})

/** The scalars of a JSON array as texts, and the text itself if it is none. */
export function scalarTextsOf(value: string): readonly string[] {
  return scalarTexts(parseArray(value) ?? [value])
}

/** One text, or the scalars of a JSON array as texts; undefined: the array holds other things. */
export function parseTexts(value: string): readonly string[] | undefined {
  const list = parseArray(value)
  if (list === undefined) return [value]
  const texts = scalarTexts(list)
  return texts.length === list.length ? texts : undefined
}

function scalarTexts(list: JsonArray): string[] {
  return list.map(scalarText).filter((text) => text !== undefined)
}

/** A comparison of what is read from an attribute with what is read from the value. */
export function against<Attribute, Value>(parts: {
  readonly expects: Expectation
  readonly readValue: (value: string) => Value | undefined
  readonly readAttribute: (value: JsonValue) => Attribute | undefined
  readonly holds: (attribute: Attribute, value: Value) => boolean
}): Comparison {
  const { expects, readValue, readAttribute, holds } = parts
  return {
    expects,
    read: (text) => {
      const value = readValue(text)
      if (value === undefined) return undefined
      return (candidate) => {
        const attribute = readAttribute(candidate)
        return attribute === undefined ? undefined : holds(attribute, value)
      }
    },
  }
}

/** Text as it is, a number or boolean in its canonical JSON text; undefined: not a scalar. */
export function scalarText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || asFinite(value) !== undefined ? String(value) : undefined
}

/** Longer texts are neither searched nor parsed: callers may send what would take a while. */
export const MAX_PARSED_LENGTH = 1024

/** What is made of the value, if it is text that is short enough. */
export function parsed<Result>(
  value: JsonValue,
  parse: (text: string) => Result | undefined,
): Result | undefined {
  return typeof value === 'string' && value.length <= MAX_PARSED_LENGTH ? parse(value) : undefined
}

function asText(value: JsonValue): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function asFinite(value: JsonValue): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function asNumber(value: JsonValue): number | undefined {
  return parsed(value, parseDecimal) ?? asFinite(value)
}

function asSemver(value: JsonValue): Semver | undefined {
  return parsed(value, parseSemver)
}

/** The value if it is an array or an object. */
export function asStructure(value: JsonValue | undefined): JsonArray | JsonObject | undefined {
  return Array.isArray(value) || isJsonObject(value) ? value : undefined
}

/** Returns the finite number that the text is in decimal notation, with white space around it. */
export function parseDecimal(text: string): number | undefined {
  const trimmed = text.trim()
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed)) return undefined
  return asFinite(Number(trimmed))
}

/** The array that a text is the JSON of. */
export function parseArray(text: string): JsonArray | undefined {
  const structure = parseStructure(text)
  return Array.isArray(structure) ? structure : undefined
}

/** The array or object that a text is the JSON of. */
export function parseStructure(text: string): JsonArray | JsonObject | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return asStructure(JSON.parse(text))
  } catch {
    return undefined
  }
}
