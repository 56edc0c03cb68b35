import { compareCodePoints } from '../model/code-point.ts'
import type { Extensions } from '../model/extensions.ts'
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '../model/json.ts'
import { parseTimestamp } from '../model/timestamp.ts'
import { parseSemver, type Semver, semverKey } from './semver.ts'

/** Compares the value of an attribute with the value of a condition. */
export type Test = (value: JsonValue) => TestResult

/**
 * The result of a test. `undefined` if the attribute has another type than the operator compares.
 * `unreadable` if the comparison would cost too much, or if the attribute is a number that is not
 * exact. In this case, the condition does not match, even if it is negated.
 */
export type TestResult = boolean | undefined | 'unreadable'

/** The expected form of the value of a condition. */
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

/** The comparison that an operator performs. */
export interface Comparison {
  readonly expects: Expectation
  /**
   * Parses the value of a condition and returns its test, or `undefined` if the value does not have
   * the expected form. `isNegated` is `true` if the operator is a negative one, the condition has
   * `negate`, or both.
   */
  readonly read: (value: string, means: Means, isNegated?: boolean) => Test | undefined
  /** `true` if an array is compared only as a whole. Otherwise its elements are compared too. */
  readonly isOfWhole?: true
}

/** The extensions and functions for parsing the value of a condition. */
export interface Means {
  readonly extensions: Extensions
  /** Records a required extension that is missing. */
  reportMissing(extension: string): undefined
  /**
   * Compiles conditions on the elements of an attribute. Returns `undefined` if a condition is
   * invalid or nested too deeply.
   */
  readElementConditions(definitions: JsonArray): ElementConditions | undefined
  /**
   * Returns a function that calls `make` when it is first called, and returns the same result for
   * each later call. Expensive work belongs in `make`, because most conditions are compiled more
   * often than they are evaluated.
   */
  lazily<Result extends object>(make: () => Result): () => Result
}

/** Compiled conditions on one element of an array. */
export interface ElementConditions {
  /** Returns `true` if the element matches all conditions. */
  readonly hold: (element: JsonValue) => boolean
  /** The number of conditions, including conditions on elements of elements. */
  readonly count: number
  /** The number of conditions that search for a regular expression. */
  readonly patterns: number
}

/** Normalizes a text before it is compared. */
export type Fold = (text: string) => string

/** Matches any value that is not missing. */
export const existence: Comparison = { expects: 'text', read: () => () => true }

/** The type checks of the operator `is_type`, by type name. */
export const TYPES: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => asFinite(value) !== undefined,
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isJsonObject,
  semver: (value) => asSemver(value) !== undefined,
}

/** Matches a value of one of the listed types. */
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

/** Creates a comparison of texts by code point. */
export function ordered(holds: (order: number) => boolean): Comparison {
  return against({
    expects: 'text',
    readValue: (value) => value,
    readAttribute: asText,
    holds: (text, value) => holds(compareCodePoints(text, value)),
  })
}

/** Creates a comparison of numbers. An attribute can also be a number as text. */
export function numeric(holds: (attribute: number, value: number) => boolean): Comparison {
  return against({ expects: 'number', readValue: parseDecimal, readAttribute: asNumber, holds })
}

/** Matches a number greater than the value. */
export const greater = numeric((attribute, value) => attribute > value)
/** Matches a number greater than or equal to the value. */
export const greaterOrEqual = numeric((attribute, value) => attribute >= value)
/** Matches a number less than the value. */
export const less = numeric((attribute, value) => attribute < value)
/** Matches a number less than or equal to the value. */
export const lessOrEqual = numeric((attribute, value) => attribute <= value)

/** Matches a number in a range, both bounds included. An attribute can also be a number as text. */
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

/**
 * Matches a number that leaves a certain remainder after a division. The remainder has the sign
 * of the dividend. An attribute can also be a number as text.
 */
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

/** Creates a comparison of timestamps, each as RFC 3339 text or as epoch milliseconds. */
export function temporal(holds: (attribute: number, value: number) => boolean): Comparison {
  return against({
    expects: 'timestamp',
    readValue: (value) => parseTimestamp(value) ?? parseDecimal(value),
    readAttribute: (value) => parsed(value, parseTimestamp) ?? asFinite(value),
    holds,
  })
}

/** Creates a comparison of semantic versions. */
export function versioned(holds: (attribute: Semver, value: Semver) => boolean): Comparison {
  return against({ expects: 'version', readValue: parseSemver, readAttribute: asSemver, holds })
}

/** Matches a semantic version with the same precedence as a version of a list. */
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

/**
 * Returns the scalars of a JSON array as texts, without other elements. If `value` is not a JSON
 * array, returns a list with only `value`.
 */
export function scalarTextsOf(value: string): readonly string[] {
  return scalarTexts(parseArray(value) ?? [value])
}

/**
 * Returns the scalars of a JSON array as texts. If `value` is not a JSON array, returns a list with
 * only `value`. Returns `undefined` if the array contains anything but scalars.
 */
export function parseTexts(value: string): readonly string[] | undefined {
  const list = parseArray(value)
  if (list === undefined) return [value]
  const texts = scalarTexts(list)
  return texts.length === list.length ? texts : undefined
}

/** Returns the scalars of an array as texts. */
export function scalarTexts(list: JsonArray): string[] {
  return list.map(scalarText).filter((text) => text !== undefined)
}

/** Creates a comparison that parses the attribute and the value, and compares the results. */
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

/**
 * Returns a text unchanged, and a finite number or a boolean as JSON text. Returns `undefined` for
 * any other value.
 */
export function scalarText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || asFinite(value) !== undefined ? String(value) : undefined
}

/**
 * The maximum length of an attribute that is parsed, in UTF-16 units. It limits the cost of
 * parsing.
 */
export const MAX_PARSED_LENGTH = 1024

/** Returns the result of `parse` for text of at most `MAX_PARSED_LENGTH`, otherwise `undefined`. */
export function parsed<Result>(
  value: JsonValue,
  parse: (text: string) => Result | undefined,
): Result | undefined {
  return typeof value === 'string' && value.length <= MAX_PARSED_LENGTH ? parse(value) : undefined
}

function asText(value: JsonValue): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns a finite number unchanged, and `undefined` for any other value. */
export function asFinite(value: JsonValue): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Returns a finite number, which can also be text in decimal notation. */
export function asNumber(value: JsonValue): number | undefined {
  return parsed(value, parseDecimal) ?? asFinite(value)
}

function asSemver(value: JsonValue): Semver | undefined {
  return parsed(value, parseSemver)
}

/** Returns the value if it is an array or an object, otherwise `undefined`. */
export function asStructure(value: JsonValue | undefined): JsonArray | JsonObject | undefined {
  return Array.isArray(value) || isJsonObject(value) ? value : undefined
}

/**
 * Parses a finite number in decimal notation, with optional white space around it. Returns
 * `undefined` for any other text.
 */
export function parseDecimal(text: string): number | undefined {
  const trimmed = text.trim()
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed)) return undefined
  return asFinite(Number(trimmed))
}

/** Parses a JSON array. Returns `undefined` for any other text. */
export function parseArray(text: string): JsonArray | undefined {
  const structure = parseStructure(text)
  return Array.isArray(structure) ? structure : undefined
}

/** Parses a JSON array or object. Returns `undefined` for any other text. */
export function parseStructure(text: string): JsonArray | JsonObject | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return asStructure(JSON.parse(text))
  } catch {
    return undefined
  }
}
