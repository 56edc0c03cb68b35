import { parseInstant } from './instant.ts'
import {
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  jsonEquals,
} from './json.ts'
import { parseSemver, type Semver, semverKey } from './semver.ts'

/** Does an attribute's value compare as wished? Undefined: it is not of the type compared. */
export type Test = (value: JsonValue) => boolean | undefined

export interface Comparison {
  /** What the value of a condition must be; reads on from "must be". */
  readonly expects: string
  /** Reads the value of a condition, once; undefined: it is not what was expected. */
  readonly read: (value: string) => Test | undefined
}

/** What is done to two texts before they are compared. */
export type Fold = (text: string) => string

export const asWritten: Fold = (text) => text

/**
 * Unicode's simple lower case: one code point for one, whatever stands around it, no locale.
 * `toLowerCase` does the same but for the two letters replaced here.
 */
export const inLowerCase: Fold = (text) =>
  text.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase()

/** Any value that is there. */
export const existence: Comparison = { expects: 'any text', read: () => () => true }

/** Equal to the text, or to the array or object that the text is the JSON of. */
export function equality(fold: Fold): Comparison {
  return { expects: 'text', read: (value) => equalsAny([value], fold) }
}

/** Equal to any of a list. */
export function membership(fold: Fold): Comparison {
  return {
    expects: 'text or a JSON array without null',
    read: (value) => {
      const list = parseArray(value) ?? [value]
      return list.includes(null) ? undefined : equalsAny(list, fold)
    },
  }
}

/** Related to any of a list of texts. */
export function textual(
  isRelated: (text: string, part: string) => boolean,
  fold: Fold,
): Comparison {
  return against({
    expects: 'text or a JSON array of texts',
    readValue: (value) => parseTexts(value)?.map(fold),
    readAttribute: (value) => (typeof value === 'string' ? fold(value) : undefined),
    holds: (text, parts) => parts.some((part) => isRelated(text, part)),
  })
}

/** Equal to any of a list of texts. */
export const textMembership = textual((text, part) => text === part, asWritten)

/** A number, or text that is one, against a number. */
export function numeric(holds: (attribute: number, value: number) => boolean): Comparison {
  const expects = 'a decimal number'
  return against({ expects, readValue: parseDecimal, readAttribute: asNumber, holds })
}

/** A number, or text that is one, within both ends of a range. */
export const range: Comparison = against({
  expects: 'a JSON array of two numbers, the lower one first',
  readValue: (value) => {
    const [low, high, ...rest] = parseArray(value)?.map(asNumber) ?? []
    if (low === undefined || high === undefined || rest.length > 0 || low > high) return undefined
    return { low, high }
  },
  readAttribute: asNumber,
  holds: (number, { low, high }) => low <= number && number <= high,
})

/** An RFC 3339 text, or a number of epoch milliseconds, against another. */
export function temporal(holds: (attribute: number, value: number) => boolean): Comparison {
  return against({
    expects: 'an RFC 3339 date with time and zone, or epoch milliseconds',
    readValue: (value) => parseInstant(value) ?? parseDecimal(value),
    readAttribute: (value) => (typeof value === 'string' ? parseInstant(value) : asFinite(value)),
    holds,
  })
}

/** A version against a version. */
export function versioned(holds: (attribute: Semver, value: Semver) => boolean): Comparison {
  const expects = 'a semantic version'
  return against({ expects, readValue: parseSemver, readAttribute: asSemver, holds })
}

/** A version whose precedence equals that of any of a list. */
export const versionMembership: Comparison = against({
  expects: 'a semantic version or a JSON array of them',
  readValue: (value) => {
    const versions = parseTexts(value)?.map(parseSemver)
    const known = versions?.filter((version) => version !== undefined)
    return known?.length === versions?.length ? known && new Set(known.map(semverKey)) : undefined
  },
  readAttribute: asSemver,
  holds: (version, keys) => keys.has(semverKey(version)),
})

/** One text, or the scalars of a JSON array as texts; undefined: the array holds other things. */
export function parseTexts(value: string): readonly string[] | undefined {
  const list = parseArray(value)
  if (list === undefined) return [value]
  const texts = list.map(scalarText).filter((text) => text !== undefined)
  return texts.length === list.length ? texts : undefined
}

function against<Attribute, Value>(parts: {
  readonly expects: string
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

function equalsAny(literals: JsonArray, fold: Fold): Test {
  const texts = new Set<string>()
  const structures: (JsonArray | JsonObject)[] = []
  for (const literal of literals) {
    const text = scalarText(literal)
    if (text !== undefined) texts.add(fold(text))
    const structure = typeof literal === 'string' ? parseStructure(literal) : asStructure(literal)
    if (structure !== undefined) structures.push(structure)
  }
  return (value) => {
    const text = scalarText(value)
    if (text !== undefined) return texts.has(fold(text))
    return structures.some((structure) => jsonEquals(structure, value))
  }
}

/** Text as it is, a number or boolean in its canonical JSON text; undefined: not a scalar. */
function scalarText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || asFinite(value) !== undefined ? String(value) : undefined
}

function asFinite(value: JsonValue): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function asNumber(value: JsonValue): number | undefined {
  return typeof value === 'string' ? parseDecimal(value) : asFinite(value)
}

function asSemver(value: JsonValue): Semver | undefined {
  return typeof value === 'string' ? parseSemver(value) : undefined
}

function asStructure(value: JsonValue | undefined): JsonArray | JsonObject | undefined {
  return Array.isArray(value) || isJsonObject(value) ? value : undefined
}

function parseDecimal(text: string): number | undefined {
  const trimmed = text.trim()
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed)) return undefined
  return asFinite(Number(trimmed))
}

function parseArray(text: string): JsonArray | undefined {
  const structure = parseStructure(text)
  return Array.isArray(structure) ? structure : undefined
}

function parseStructure(text: string): JsonArray | JsonObject | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return asStructure(JSON.parse(text))
  } catch {
    return undefined
  }
}
