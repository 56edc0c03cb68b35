import {
  asWritten,
  type Comparison,
  type ElementCondition,
  type Expectation,
  equalsAny,
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
} from './comparison.ts'
import { isJsonObject, type JsonArray, type JsonValue } from './json.ts'

/** An array in which every value of a list is found. */
export const containsAll: Comparison = ofArray('list', (value) => {
  const wanted = readList(value)?.map(elementTest)
  if (wanted === undefined) return undefined
  return (array) => {
    const texts = new Set(array.map(scalarText))
    return wanted.length > 0 && wanted.every((isFoundIn) => isFoundIn(array, texts))
  }
})

/** An array in which no value of a list is found. */
export const containsNone: Comparison = ofArray('list', (value) => {
  const list = readList(value)
  if (list === undefined) return undefined
  const isUnwanted = equalsAny(list, asWritten)
  return (array) => !array.some(isUnwanted)
})

const equalSize = numeric((size, wanted) => size === wanted)

/** How the number of elements may be compared, by the name of the operator. */
const SIZE_COMPARISONS: ReadonlyMap<JsonValue | undefined, Comparison> = new Map([
  ['eq', equalSize],
  ['neq', numeric((size, unwanted) => size !== unwanted)],
  ['gt', greater],
  ['gte', greaterOrEqual],
  ['lt', less],
  ['lte', lessOrEqual],
  ['between', range],
])

/** An array by the number of its elements. */
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

/** Each of them is judged for each element, so that few must do. */
export const MAX_ELEMENT_CONDITIONS = 64

/** An array with an element for which all of a list of conditions hold. */
export const element: Comparison = ofArray('conditions', (value, { readElementCondition }) => {
  const list = parseArray(value)
  if (list === undefined || list.length > MAX_ELEMENT_CONDITIONS) return undefined
  const conditions: ElementCondition[] = []
  for (const definition of list) {
    const condition = readElementCondition(definition)
    if (condition === undefined) return undefined
    conditions.push(condition)
  }
  if (conditions.length === 0) return () => false
  return (array) => array.some((each) => conditions.every((holds) => holds(each)))
})

/** A comparison that can read nothing but arrays, and takes them as a whole. */
function ofArray(
  expects: Expectation,
  read: (value: string, means: Means) => ((array: JsonArray) => boolean) | undefined,
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

function readList(value: string): JsonArray | undefined {
  const list = parseArray(value) ?? [value]
  return list.includes(null) ? undefined : list
}

/** Whether a value is found in an array, the texts of whose scalars are given as well. */
function elementTest(literal: JsonValue) {
  const text = scalarText(literal)
  if (text !== undefined && parseStructure(text) === undefined) {
    return (_: JsonArray, texts: ReadonlySet<string | undefined>) => texts.has(text)
  }
  const isEqual = equalsAny([literal], asWritten)
  return (array: JsonArray) => array.some(isEqual)
}
