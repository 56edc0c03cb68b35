import { type AttributeReference, compileReference } from './attribute.ts'
import { addTo } from './bit-set.ts'
import { type CompiledCondition, holdsAfter, holdsFor } from './condition.ts'
import type { JsonValue } from './json.ts'

/** A condition that asks no more than whether the text of an attribute is one of a few. */
export interface TextCondition {
  readonly condition: CompiledCondition
  readonly texts: readonly string[]
  /** What the test says of texts that are not among them. */
  readonly isForOthers: boolean
}

/** One of the rows that ask about an attribute, and what it asks. */
export interface AttributeRow {
  readonly row: number
  readonly conditions: readonly TextCondition[]
}

/**
 * For each value of one attribute the rows whose conditions on it hold; rows that ask nothing about
 * it always do. Made by `indexAttribute`.
 */
export interface AttributeIndex {
  readonly reference: AttributeReference
  /** How many words all rows take. */
  readonly words: number
  /** Where a text that some condition lists has its entry in `bits`. */
  readonly byText: ReadonlyMap<string, number>
  /**
   * The words of the rows for a text that is listed nowhere, then those for a missing attribute,
   * then the entries of listed texts, each of which says how its words differ from those of an
   * unlisted one: how many do, and pairs of a word's number and the bits to flip in it.
   */
  readonly bits: Int32Array
  /** All the conditions and the row of each, for an attribute that is an array or object. */
  readonly conditions: readonly CompiledCondition[]
  readonly rows: readonly number[]
}

/** Prepares what rows, in ascending order, ask about an attribute; all rows fill `words`. */
export function indexAttribute(
  attribute: string,
  rows: readonly AttributeRow[],
  words: number,
): AttributeIndex {
  const unlisted = new Array<number>(words).fill(-1)
  const missing = new Array<number>(words).fill(-1)
  const differences = new Map<string, number[]>()
  for (const { row, conditions } of rows) {
    const judges = conditions.map(judgeOf)
    const holds = judges.every((judge) => judge.unlisted)
    if (!holds) clear(unlisted, row)
    if (!judges.every((judge) => judge.missing)) clear(missing, row)
    for (const text of textsOf(judges)) {
      const holdsForText = judges.every((judge) =>
        judge.texts.has(text) ? judge.listed : judge.unlisted,
      )
      if (holdsForText !== holds) addTo(differencesOf(differences, text), row)
    }
  }
  const all = rows.flatMap(({ row, conditions }) => conditions.map((each) => ({ row, ...each })))
  return {
    reference: compileReference(attribute),
    words,
    ...pack([...unlisted, ...missing], differences),
    conditions: all.map(({ condition }) => condition),
    rows: all.map(({ row }) => row),
  }
}

/** What a condition says of each kind of value that is not an array or object. */
function judgeOf({ condition, texts, isForOthers }: TextCondition) {
  return {
    texts: new Set(texts),
    listed: holdsAfter(condition, true),
    unlisted: holdsAfter(condition, isForOthers),
    missing: holdsAfter(condition, undefined),
  }
}

function textsOf(judges: readonly { readonly texts: ReadonlySet<string> }[]): Iterable<string> {
  const [first, ...others] = judges
  if (first === undefined || others.length === 0) return first?.texts ?? []
  return new Set(judges.flatMap(({ texts }) => [...texts]))
}

function differencesOf(differences: Map<string, number[]>, text: string): number[] {
  const known = differences.get(text)
  if (known !== undefined) return known
  const fresh: number[] = []
  differences.set(text, fresh)
  return fresh
}

function clear(words: number[], row: number): void {
  words[row >>> 5] = (words[row >>> 5] ?? 0) & ~(1 << (row & 31))
}

/** Puts everything into one array, which a processor likes better than many. */
function pack(
  head: readonly number[],
  differences: ReadonlyMap<string, readonly number[]>,
): Pick<AttributeIndex, 'byText' | 'bits'> {
  const byText = new Map<string, number>()
  let length = head.length
  for (const [text, pairs] of differences) {
    byText.set(text, length)
    length += 1 + pairs.length
  }
  const bits = new Int32Array(length)
  bits.set(head)
  for (const [text, pairs] of differences) {
    const at = byText.get(text) ?? 0
    bits[at] = pairs.length / 2
    bits.set(pairs, at + 1)
  }
  return { byText, bits }
}

/** Clears the rows whose conditions on the attribute do not hold for its text. */
export function keepForText(index: AttributeIndex, text: string, rows: Int32Array): void {
  const { bits, byText, words } = index
  let next = byText.get(text) ?? -1
  const count = next === -1 ? 0 : (bits[next] ?? 0)
  const end = next + 1 + 2 * count
  next += 1
  for (let word = 0; word < words; word += 1) {
    let kept = bits[word] ?? 0
    if (next < end && bits[next] === word) {
      kept ^= bits[next + 1] ?? 0
      next += 2
    }
    rows[word] = (rows[word] ?? 0) & kept
  }
}

/** Clears the rows whose conditions on the attribute do not hold when it is missing. */
export function keepForMissing({ bits, words }: AttributeIndex, rows: Int32Array): void {
  for (let word = 0; word < words; word += 1) {
    rows[word] = (rows[word] ?? 0) & (bits[words + word] ?? 0)
  }
}

/** Clears the rows whose conditions on the attribute do not hold for its value. */
export function keepForValue(index: AttributeIndex, value: JsonValue, rows: Int32Array): void {
  for (const [number, condition] of index.conditions.entries()) {
    const row = index.rows[number] ?? 0
    const word = rows[row >>> 5] ?? 0
    const bit = 1 << (row & 31)
    if ((word & bit) !== 0 && !holdsFor(condition, value)) rows[row >>> 5] = word & ~bit
  }
}
