import { isInexact, type JsonArray, type JsonValue } from '../model/json.ts'
import { scalarText, scalarTexts } from '../operators/comparison.ts'
import { holdsFor } from '../operators/condition.ts'
import { copy, type IndexBits } from './bit-set.ts'
import { countUpTo, toggle, type ValueIndex } from './value-index.ts'

/** Removes from `rows` all rule rows with a test that the value does not pass. */
export function keepRows(
  index: ValueIndex,
  value: JsonValue | undefined,
  rows: Int32Array,
  sets: IndexBits,
): void {
  const place = fullPlaceOf(index, value, sets)
  if (place === undefined) {
    keepRowsOneByOne(index, value, rows)
    return
  }
  // No getter of the context is called between the creation of a set in the room and this loop. A
  // getter could evaluate another context, which uses the same room.
  const { words, bits } = sets
  for (let word = 0; word < words; word += 1) {
    rows[word] = (rows[word] ?? 0) & (bits[place + word] ?? 0)
  }
}

/**
 * Returns the place of the full set of matching rows for a value. The set can be created in the
 * room. Returns `undefined` if the tests of the value must be evaluated one by one.
 */
function fullPlaceOf(
  index: ValueIndex,
  value: JsonValue | undefined,
  sets: IndexBits,
): number | undefined {
  const place = placeOf(index, value, sets)
  if (place === undefined || place >= 0) return place
  // The set is sparse.
  const { bits } = sets
  const full = copy(bits[~place] ?? 0, sets)
  toggle(bits, full, [bits, bits[~place + 1] ?? 0, bits[~place + 2] ?? 0])
  return full
}

function placeOf(
  index: ValueIndex,
  value: JsonValue | undefined,
  sets: IndexBits,
): number | undefined {
  const { scale, searches, missing, unlisted } = index
  if (value === undefined) return missing
  if (searches?.kind.place === 'element') {
    if (!Array.isArray(value)) return missing
    const texts = exactTexts(value)
    return texts && searches.placeOfElements(texts, unlisted, sets)
  }
  if (searches !== undefined && typeof value === 'string')
    return searches.placeOf(value, unlisted, sets)
  if (searches === undefined && scale === undefined) {
    const text = isInexact(value) ? undefined : scalarText(value)
    return text === undefined ? undefined : (index.byText.get(text) ?? unlisted)
  }
  if (typeof value === 'object') return undefined
  const position = scale?.positionOf(value)
  if (position === undefined) return missing
  return Number.isNaN(position) ? undefined : index.places[countUpTo(index.limits, position)]
}

/**
 * Returns the scalars of an array as texts. `undefined` if one of its elements is inexact, so that
 * its text must not be compared.
 */
function exactTexts(array: JsonArray): readonly string[] | undefined {
  return array.some(isInexact) ? undefined : scalarTexts(array)
}

function keepRowsOneByOne(index: ValueIndex, value: JsonValue | undefined, rows: Int32Array): void {
  // All conditions use the same set.
  const texts = Array.isArray(value) ? exactTexts(value) : undefined
  const set = texts && new Set(texts)
  for (const [number, condition] of index.conditions.entries()) {
    const row = index.rows[number] ?? 0
    const word = rows[row >>> 5] ?? 0
    const bit = 1 << (row & 31)
    if ((word & bit) === 0) continue
    const holds = set && condition.stringSet?.holdsForAny(set)
    if (!(holds ?? holdsFor(condition, value))) rows[row >>> 5] = word & ~bit
  }
}
