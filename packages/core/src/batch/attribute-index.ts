import { type AttributeReference, compileReference } from '../model/attribute.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import type { JsonArray, JsonValue } from '../model/json.ts'
import { scalarText } from '../operators/comparison.ts'
import { type CompiledCondition, holdsFor } from '../operators/condition.ts'
import { holdsAfter } from '../operators/value-reader.ts'
import { addTo, clear, endOf } from './bit-set.ts'

/** A condition whose result depends only on whether the attribute is one of a few texts. */
export interface TextCondition {
  readonly condition: CompiledCondition
  readonly texts: readonly string[]
  /** The result of the test for all other texts. */
  readonly isForOthers: boolean
}

/** A rule row that reads an attribute, and its conditions on it. */
export interface AttributeRow {
  readonly row: number
  readonly conditions: readonly TextCondition[]
}

/**
 * For each value of one attribute, the rule rows whose conditions on it hold; rule rows without a
 * condition on the attribute are included. The rows are words in the `bits` of a condition index.
 * Made by `indexAttribute`.
 */
export interface AttributeIndex {
  readonly reference: AttributeReference
  /** Where in `bits` the words begin for a text that no condition lists. */
  readonly unlisted: number
  /** The same for a missing attribute. */
  readonly missing: number
  /**
   * The same for listed texts. If all bits of the place are flipped, there is a sparse set of the
   * bits that differ from those for an unlisted text.
   */
  readonly byText: ReadonlyMap<string, number>
  /** All the conditions and the row of each, for an attribute that is an array or object. */
  readonly conditions: readonly CompiledCondition[]
  readonly rows: readonly number[]
}

/** A chunk of work ends after this many rows or texts. */
const ROWS_PER_CHUNK = 128
const TEXTS_PER_CHUNK = 4096

/**
 * Builds the index of one attribute incrementally. The rule rows are in ascending order; `words` is
 * the number of words that all rule rows of the condition index take.
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

/** The combined result of conditions for a text that none of them lists and for a missing attribute. */
interface TextResults {
  readonly unlisted: boolean
  readonly missing: boolean
  /** The texts for which the result is the opposite of `unlisted`. */
  readonly differing: readonly string[]
}

function evaluateTextConditions(conditions: readonly TextCondition[]): TextResults {
  const [first, ...others] = conditions
  // Nearly always there is one, and large flag sets have many thousand.
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

/** Returns where the words are then. */
function append(bits: number[], words: readonly number[]): number {
  const place = bits.length
  for (const word of words) bits.push(word)
  return place
}

/** Words are quicker to use than a difference, but may take only so many times its room. */
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

/** What `placeOf` says when there are no such words, so that `keepRows` has to find them. */
export const NOWHERE = -1

/** Where in `bits` the words are of the rows whose conditions on the attribute hold for its value. */
export function placeOf(index: AttributeIndex, value: JsonValue | undefined): number {
  if (value === undefined) return index.missing
  const text = scalarText(value)
  if (text === undefined) return NOWHERE
  const place = index.byText.get(text) ?? index.unlisted
  return place < 0 ? NOWHERE : place
}

/** Clears the rows whose conditions on the attribute do not hold for its value. */
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

/** Made once for all conditions, so that what each of them costs does not grow with the array. */
function textsOf(array: JsonArray): ReadonlySet<string> {
  const texts = new Set<string>()
  for (const element of array) {
    const text = scalarText(element)
    if (text !== undefined) texts.add(text)
  }
  return texts
}
