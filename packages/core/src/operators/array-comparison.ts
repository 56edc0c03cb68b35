import {
  containsInexact,
  isInexact,
  isJsonObject,
  type JsonArray,
  type JsonValue,
} from '../model/json.ts'
import {
  asStructure,
  type Comparison,
  type Expectation,
  greater,
  greaterOrEqual,
  less,
  lessOrEqual,
  type Means,
  numeric,
  parseArray,
  parseStructure,
  range,
  scalarText,
  type Test,
  type TestResult,
} from './comparison.ts'
import { LiteralSet, readList, structureIn } from './equality-comparison.ts'
import { MAX_SEARCHED_ARRAY } from './pattern-comparison.ts'
import { StructureSet } from './structure-set.ts'
import { asWritten } from './text-comparison.ts'

/** Matches an array that contains every value of a list. An empty list matches no array. */
export const containsAll: Comparison = ofArray('list', (value, means) => {
  if (readList(value) === undefined) return undefined
  const wanted = means.lazily(() => (readList(value) ?? []).map(wantedOf))
  return (array) => {
    if (wanted().length === 0) return false
    return areAllIn(array, wanted()) || (array.some(isInexact) ? 'unreadable' : false)
  }
})

/** Matches an array that contains no value of a list. */
export const containsNone: Comparison = ofArray('list', (value, means) => {
  if (readList(value) === undefined) return undefined
  const unwanted = means.lazily(() => new LiteralSet(readList(value) ?? [], asWritten))
  return (array) => {
    const results = array.map((each) => unwanted().compare(each))
    if (results.includes(true)) return false
    return results.includes('unreadable') ? 'unreadable' : true
  }
})

const equalSize = numeric((size, wanted) => size === wanted)

/** The comparisons of the number of elements, by the name of the operator. */
const SIZE_COMPARISONS: ReadonlyMap<JsonValue | undefined, Comparison> = new Map([
  ['eq', equalSize],
  ['neq', numeric((size, unwanted) => size !== unwanted)],
  ['gt', greater],
  ['gte', greaterOrEqual],
  ['lt', less],
  ['lte', lessOrEqual],
  ['between', range],
])

/** Matches an array by the number of its elements. */
export const size: Comparison = ofArray('size', (value, means) => {
  const isRight = readSizeTest(value, means)
  return isRight && ((array) => isRight(array.length) === true)
})

function readSizeTest(value: string, means: Means): Test | undefined {
  const written = parseStructure(value)
  if (!isJsonObject(written)) return equalSize.read(value, means)
  const { op, value: wanted = null, ...others } = written
  if (Object.keys(others).length > 0) return undefined
  const text = Array.isArray(wanted) ? JSON.stringify(wanted) : scalarText(wanted)
  return text === undefined ? undefined : SIZE_COMPARISONS.get(op)?.read(text, means)
}

/** The maximum number of conditions on the elements of an array. */
export const MAX_ELEMENT_CONDITIONS = 64
/**
 * The maximum work of the conditions on the elements of an array. For each condition, the work is
 * the number of elements times `UNITS_PER_ELEMENT`, plus the UTF-16 units of all texts.
 */
export const MAX_ELEMENT_WORK = 500_000
const UNITS_PER_ELEMENT = 16

/**
 * Matches an array with an element that matches every condition of a list. An empty list matches no
 * array.
 */
export const element: Comparison = ofArray('conditions', (value, means) => {
  const list = parseArray(value)
  if (list === undefined || list.length > MAX_ELEMENT_CONDITIONS) return undefined
  const conditions = means.readElementConditions(list)
  if (conditions === undefined) return undefined
  if (list.length === 0) return () => false
  const { hold, count, patterns } = conditions
  return (array) => {
    const { elements, units } = sizeOf(array)
    const isTooMuch =
      count * (UNITS_PER_ELEMENT * elements + units) > MAX_ELEMENT_WORK ||
      patterns * units > MAX_SEARCHED_ARRAY
    return isTooMuch ? 'unreadable' : array.some(hold)
  }
})

/** Returns the number of values in an array, at all depths, and the total length of its texts. */
function sizeOf(array: JsonArray): { readonly elements: number; readonly units: number } {
  const values: (JsonValue | undefined)[] = [...array]
  let elements = 0
  let units = 0
  // An array with more elements exceeds the limit even for a single condition.
  for (; values.length > 0 && UNITS_PER_ELEMENT * elements <= MAX_ELEMENT_WORK; elements += 1) {
    const value = values.pop()
    if (typeof value === 'string') units += value.length
    else if (Array.isArray(value)) for (const each of value) values.push(each)
    else if (isJsonObject(value)) for (const name of Object.keys(value)) values.push(value[name])
  }
  return { elements, units }
}

/** Creates a comparison of arrays as a whole. The result for any other value is `undefined`. */
function ofArray(
  expects: Expectation,
  read: (value: string, means: Means) => ((array: JsonArray) => TestResult) | undefined,
): Comparison {
  return {
    expects,
    read: (value, means) => {
      const holds = read(value, means)
      return holds && ((candidate) => (Array.isArray(candidate) ? holds(candidate) : undefined))
    },
    isOfWhole: true,
  }
}

interface Wanted {
  readonly text: string | undefined
  readonly structure: ReturnType<typeof structureIn>
}

function wantedOf(literal: JsonValue): Wanted {
  return { text: scalarText(literal), structure: structureIn(literal) }
}

function exactText(value: JsonValue): string | undefined {
  return isInexact(value) ? undefined : scalarText(value)
}

/** The number of wanted values up to which a search is faster than a set. */
const FEW = 4

function areAllIn(array: JsonArray, wanted: readonly Wanted[]): boolean {
  const isShort = array.length * wanted.length <= FEW * FEW
  if (isShort && wanted.every(({ structure }) => structure === undefined)) {
    return wanted.every(
      ({ text }) => text !== undefined && array.some((each) => exactText(each) === text),
    )
  }
  const texts = new Set(array.map(exactText))
  const structures = new StructureSet()
  if (wanted.some(({ structure }) => structure !== undefined)) {
    for (const each of array) {
      const structure = asStructure(each)
      if (structure !== undefined && !containsInexact(structure)) structures.add(structure)
    }
  }
  return wanted.every(({ text, structure }) => {
    if (text !== undefined && texts.has(text)) return true
    return structure !== undefined && structures.has(structure)
  })
}
