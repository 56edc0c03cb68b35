import { type AttributeReference, compileReference } from '../model/attribute.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import type { JsonArray, JsonValue } from '../model/json.ts'
import { scalarText } from '../operators/comparison.ts'
import { type CompiledCondition, holdsFor } from '../operators/condition.ts'
import { holdsAfter } from '../operators/value-reader.ts'
import { addTo, clear, endOf } from './bit-set.ts'

/**
 * A condition on an attribute with one result for the texts that it lists, and the opposite result
 * for all other texts.
 */
export interface TextCondition {
  readonly condition: CompiledCondition
  /** The listed texts. */
  readonly texts: readonly string[]
  /** The result of the test for all other texts. */
  readonly isForOthers: boolean
}

/** The conditions on one attribute in the rule row with the number `row`. */
export interface AttributeRow {
  readonly row: number
  readonly conditions: readonly TextCondition[]
}

/**
 * The index of one attribute, created by `indexAttribute`. It maps each value of the attribute to a
 * set of rule rows: the rows with conditions that match the value, and all rows without a condition
 * on the attribute. The sets are bit sets in `ConditionIndex.bits`.
 */
export interface AttributeIndex {
  readonly reference: AttributeReference
  /** The offset in `bits` of the set for a text that no condition lists. */
  readonly unlisted: number
  /** The offset in `bits` of the set for a missing attribute. */
  readonly missing: number
  /**
   * The offset in `bits` of the set for each listed text. A negative number is the bitwise
   * complement of the offset of a sparse set. A sparse set contains the rows that have another
   * result for the text than for an unlisted text.
   */
  readonly byText: ReadonlyMap<string, number>
  /** All conditions on the attribute. They are evaluated if the attribute is an array or object. */
  readonly conditions: readonly CompiledCondition[]
  /** The number of the rule row of each condition in `conditions`. */
  readonly rows: readonly number[]
}

/** The number of rule rows that are indexed without interruption. */
const ROWS_PER_CHUNK = 128
/** The number of texts that are indexed without interruption. */
const TEXTS_PER_CHUNK = 4096

/**
 * Builds the index of one attribute incrementally. The rule rows must be in ascending order.
 * `words` is the size of a set of all rule rows, in 32-bit words. The sets are appended to `bits`.
 */
export function* indexAttribute(
  attribute: string,
  rows: readonly AttributeRow[],
  { words, bits }: { readonly words: number; readonly bits: number[] },
): Incremental<AttributeIndex> {
  const unlisted = new Array<number>(words).fill(-1)
  const missing = new Array<number>(words).fill(-1)
  const differences = new Map<string, number[]>()
  let texts = 0
  for (const [number, { row, conditions }] of rows.entries()) {
    if (number % ROWS_PER_CHUNK === 0 || texts > TEXTS_PER_CHUNK) {
      texts = 0
      yield
    }
    const { unlisted: holds, missing: holdsWithout, differing } = evaluateTextConditions(conditions)
    if (!holds) clear(unlisted, row, row + 1)
    if (!holdsWithout) clear(missing, row, row + 1)
    for (const text of differing) addTo(getOrMake(differences, text, newList), row)
    texts += differing.length
  }
  const all = rows.flatMap(({ row, conditions }) => conditions.map((each) => ({ row, ...each })))
  yield
  return {
    reference: compileReference(attribute),
    unlisted: append(bits, unlisted),
    missing: append(bits, missing),
    byText: yield* appendTexts(bits, unlisted, differences),
    conditions: all.map(({ condition }) => condition),
    rows: all.map(({ row }) => row),
  }
}

/** The combined results of conditions on one attribute. */
interface TextResults {
  /** The result for a text that no condition lists. */
  readonly unlisted: boolean
  /** The result for a missing attribute. */
  readonly missing: boolean
  /** The texts for which the result is the opposite of `unlisted`. */
  readonly differing: readonly string[]
}

function evaluateTextConditions(conditions: readonly TextCondition[]): TextResults {
  const [first, ...others] = conditions
  // A fast path, because nearly all rule rows have one condition on an attribute.
  if (first !== undefined && others.length === 0) return evaluateTextCondition(first)
  const results = conditions.map((each) => {
    const result = evaluateTextCondition(each)
    return { ...result, differing: new Set(result.differing) }
  })
  const unlisted = results.every((one) => one.unlisted)
  const texts = new Set(results.flatMap(({ differing }) => [...differing]))
  const differing = [...texts].filter((text) => {
    return results.every((one) => one.differing.has(text) !== one.unlisted) !== unlisted
  })
  return { unlisted, missing: results.every((one) => one.missing), differing }
}

function evaluateTextCondition({ condition, texts, isForOthers }: TextCondition): TextResults {
  return {
    unlisted: holdsAfter(condition, isForOthers),
    missing: holdsAfter(condition, undefined),
    // The result for a listed text always differs from that for an unlisted one.
    differing: texts,
  }
}

function newList(): number[] {
  return []
}

/** Appends words and returns their offset. */
function append(bits: number[], words: readonly number[]): number {
  const place = bits.length
  for (const word of words) bits.push(word)
  return place
}

/**
 * The maximum size of a full set, as a multiple of the size of the sparse set. Full sets are
 * faster, but larger.
 */
const MAX_ROOM = 4

function* appendTexts(
  bits: number[],
  unlisted: readonly number[],
  differences: ReadonlyMap<string, readonly number[]>,
): Incremental<ReadonlyMap<string, number>> {
  const byText = new Map<string, number>()
  for (const [text, pairs] of differences) {
    if (byText.size % TEXTS_PER_CHUNK === 0) yield
    if (unlisted.length > MAX_ROOM * (1 + pairs.length)) {
      byText.set(text, ~append(bits, [pairs.length / 2, ...pairs]))
      continue
    }
    const words = unlisted.slice()
    for (let pair = 0; pair < pairs.length; pair += 2) {
      const word = pairs[pair] ?? 0
      words[word] = (words[word] ?? 0) ^ (pairs[pair + 1] ?? 0)
    }
    byText.set(text, append(bits, words))
  }
  return byText
}

/** The result of `placeOf` if there is no full set for a value, so that `keepRows` is required. */
export const NOWHERE = -1

/**
 * Returns the offset in `bits` of the set of matching rows for a value, or `NOWHERE` if there is no
 * full set for the value.
 */
export function placeOf(index: AttributeIndex, value: JsonValue | undefined): number {
  if (value === undefined) return index.missing
  const text = scalarText(value)
  if (text === undefined) return NOWHERE
  const place = index.byText.get(text) ?? index.unlisted
  return place < 0 ? NOWHERE : place
}

/**
 * Removes from `rows` all rule rows with a condition on the attribute that `value` does not match.
 */
export function keepRows(
  index: AttributeIndex,
  value: JsonValue,
  rows: Int32Array,
  { words, bits }: { readonly words: number; readonly bits: Int32Array },
): void {
  const text = scalarText(value)
  if (text === undefined) keepForStructure(index, value, rows)
  else {
    let pair = ~(index.byText.get(text) ?? 0)
    const end = endOf(bits, pair)
    pair += 1
    for (let word = 0; word < words; word += 1) {
      let kept = bits[index.unlisted + word] ?? 0
      if (pair < end && bits[pair] === word) {
        kept ^= bits[pair + 1] ?? 0
        pair += 2
      }
      rows[word] = (rows[word] ?? 0) & kept
    }
  }
}

function keepForStructure(index: AttributeIndex, value: JsonValue, rows: Int32Array): void {
  const texts = Array.isArray(value) ? textsOf(value) : undefined
  for (const [number, condition] of index.conditions.entries()) {
    const row = index.rows[number] ?? 0
    const word = rows[row >>> 5] ?? 0
    const bit = 1 << (row & 31)
    if ((word & bit) === 0) continue
    const holds = texts && condition.stringSet?.holdsForAny(texts)
    if (!(holds ?? holdsFor(condition, value))) rows[row >>> 5] = word & ~bit
  }
}

/** Returns the scalars of an array as texts. All conditions use the same set. */
function textsOf(array: JsonArray): ReadonlySet<string> {
  const texts = new Set<string>()
  for (const element of array) {
    const text = scalarText(element)
    if (text !== undefined) texts.add(text)
  }
  return texts
}
