import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import type { Scale, ScaleRange } from '../operators/scale.ts'
import { addTo, append, clear, packed, type SparseBits } from './bit-set.ts'
import type { ValueTest } from './rule-row.ts'
import { SearchIndex } from './search-index.ts'
import type { ValueSource } from './value-source.ts'

/** The tests of one value in the rule row with the number `row`. */
export interface ValueRow {
  readonly row: number
  readonly tests: readonly ValueTest[]
}

/**
 * The index of one value, created by `indexValue`. It maps the value to a set of rule rows: the
 * rows with tests that the value passes, and all rows without a test of the value. The sets are bit
 * sets in `ConditionIndex.bits`, and a *place* is the offset of a set there. A negative place is
 * the bitwise complement of the offset of a sparse set, which has three numbers: the place of a
 * full set, and the start and end of the pairs (see `bit-set.ts`) in which both sets differ.
 */
export interface ValueIndex {
  readonly source: ValueSource
  /** The rule rows with a test of the value. */
  readonly tested: SparseBits
  /** The scale of the value, or `undefined` if texts are listed. */
  readonly scale: Scale | undefined
  /** The searches for listed texts, or `undefined` if listed texts are compared as a whole. */
  readonly searches: SearchIndex | undefined
  /** The place of the set for a missing value, and for one of another type. */
  readonly missing: number
  /** The place of the set for a text that no test lists. */
  readonly unlisted: number
  /** The place of the set for each listed text. Empty if there are searches. */
  readonly byText: ReadonlyMap<string, number>
  /** The positions on the scale from which another set applies, in ascending order. */
  readonly limits: Float64Array
  /** The place of the set below the first limit, and of the set from each limit on. */
  readonly places: Int32Array
  /** All conditions, which are evaluated one by one if the value is an array or object. */
  readonly conditions: readonly CompiledCondition[]
  /** The number of the rule row of each of `conditions`. */
  readonly rows: readonly number[]
}

/** The number of rule rows that are indexed without interruption. */
const ROWS_PER_CHUNK = 128
/** The number of texts and positions that are indexed without interruption. */
const VALUES_PER_CHUNK = 4096

/** The bit sets of an index while it is built. */
export interface Sets {
  /** The size of a set of all rule rows, in 32-bit words. */
  readonly words: number
  readonly bits: number[]
}

/** The value of an index, and the kind of all its tests. */
export type IndexedValue = Pick<ValueTest, 'source' | 'scale' | 'search'>

/**
 * Builds the index of one value incrementally. The rule rows must be in ascending order. If the
 * tests are searches, no row has more than one. The sets are appended to `sets.bits`.
 */
export function* indexValue(
  { source, scale, search }: IndexedValue,
  rows: readonly ValueRow[],
  sets: Sets,
): Incremental<ValueIndex> {
  const others = new Array<number>(sets.words).fill(-1)
  const missing = new Array<number>(sets.words).fill(-1)
  const tested: number[] = []
  const differences = new Map<string, number[]>()
  const changes = new Map<number, number[]>()
  let values = 0
  for (const [number, { row, tests }] of rows.entries()) {
    if (number % ROWS_PER_CHUNK === 0 || values > VALUES_PER_CHUNK) {
      values = 0
      yield
    }
    addTo(tested, row)
    if (!tests.every(({ isForMissing }) => isForMissing)) clear(missing, row, row + 1)
    if (!tests.every(isForLowest)) clear(others, row, row + 1)
    const texts = differingTexts(tests)
    const positions = changingPositions(tests)
    for (const text of texts) addTo(getOrMake(differences, text, newList), row)
    for (const position of positions) addTo(getOrMake(changes, position, newList), row)
    values += texts.length + positions.length
  }
  yield
  const unlisted = append(sets.bits, others)
  const all = rows.flatMap(({ row, tests }) => {
    return tests.flatMap(({ condition }) => (condition === undefined ? [] : { row, condition }))
  })
  return {
    source,
    tested: packed([tested]),
    scale,
    missing: append(sets.bits, missing),
    unlisted,
    searches: search && new SearchIndex(search, differences, sets.bits),
    byText: yield* appendTexts(sets, unlisted, search === undefined ? differences : new Map()),
    ...(yield* appendPositions(sets, unlisted, changes)),
    conditions: all.map(({ condition }) => condition),
    rows: all.map(({ row }) => row),
  }
}

/** Returns the result of a test for an unlisted text, or for a position below all limits. */
function isForLowest({ ranges, isForOthers }: ValueTest): boolean {
  return ranges.some(({ from }) => from === -Infinity) !== isForOthers
}

/** Returns the texts for which the tests have another result than for other texts. */
function differingTexts(tests: readonly ValueTest[]): readonly string[] {
  const [first, ...others] = tests
  // Nearly all rule rows have one test of a value.
  if (first !== undefined && others.length === 0) return first.texts
  const lists = tests.map(({ texts, isForOthers }) => ({ texts: new Set(texts), isForOthers }))
  const unlisted = tests.every(({ isForOthers }) => isForOthers)
  const texts = new Set(tests.flatMap((test) => test.texts))
  return [...texts].filter((text) => {
    return lists.every((list) => list.texts.has(text) !== list.isForOthers) !== unlisted
  })
}

/** Returns the positions from which the tests have another result than just below. */
function changingPositions(tests: readonly ValueTest[]): readonly number[] {
  const lists = tests.map(({ ranges, isForOthers }) => ({ limits: limitsOf(ranges), isForOthers }))
  const all = lists.flatMap(({ limits }) => [...limits])
  const holdsAt = (position: number) => {
    return lists.every(({ limits, isForOthers }) => {
      // The limits are the starts and ends of ranges in turn.
      const isListed = countUpTo(limits, position) % 2 === 1
      return isListed !== isForOthers
    })
  }
  let last = holdsAt(-Infinity)
  return [...new Set(all.sort((left, right) => left - right))].filter((limit) => {
    const before = last
    last = holdsAt(limit)
    return last !== before && Number.isFinite(limit)
  })
}

/** Returns the start and the end of each range in ascending order. Merges ranges that overlap. */
function limitsOf(ranges: readonly ScaleRange[]): Float64Array {
  const limits: number[] = []
  for (const { from, to } of [...ranges].sort((left, right) => left.from - right.from)) {
    const end = limits.at(-1)
    if (end === undefined || from > end) limits.push(from, to)
    else limits[limits.length - 1] = Math.max(end, to)
  }
  return Float64Array.from(limits)
}

function newList(): number[] {
  return []
}

/**
 * The maximum size of a full set, as a multiple of the size of the sparse set. Full sets are
 * faster, but larger.
 */
const MAX_ROOM = 4

function isSparse(words: number, pairs: number): boolean {
  return words > MAX_ROOM * (1 + pairs)
}

/** Changes the set at `place` by the pairs from `start` to `end`. */
export function toggle(
  bits: number[] | Int32Array,
  place: number,
  [pairs, start, end]: readonly [pairs: ArrayLike<number>, start: number, end: number],
): void {
  for (let pair = start; pair < end; pair += 2) {
    const word = place + (pairs[pair] ?? 0)
    bits[word] = (bits[word] ?? 0) ^ (pairs[pair + 1] ?? 0)
  }
}

/** Appends a copy of the set at `base`, changed by pairs. */
function appendFull(
  { words, bits }: Sets,
  base: number,
  pairs: Parameters<typeof toggle>[2],
): number {
  const place = append(bits, bits.slice(base, base + words))
  toggle(bits, place, pairs)
  return place
}

function* appendTexts(
  sets: Sets,
  unlisted: number,
  differences: ReadonlyMap<string, readonly number[]>,
): Incremental<ReadonlyMap<string, number>> {
  const { words, bits } = sets
  const byText = new Map<string, number>()
  // Many texts have the same set, such as the keys of a target.
  const places = new Map<string, number>()
  for (const [text, pairs] of differences) {
    if (byText.size % VALUES_PER_CHUNK === 0) yield
    const place = getOrMake(places, pairs.join(), () => {
      if (!isSparse(words, pairs.length))
        return appendFull(sets, unlisted, [pairs, 0, pairs.length])
      const start = append(bits, pairs)
      return ~append(bits, [unlisted, start, start + pairs.length])
    })
    byText.set(text, place)
  }
  return byText
}

function* appendPositions(
  sets: Sets,
  lowest: number,
  changes: ReadonlyMap<number, readonly number[]>,
): Incremental<Pick<ValueIndex, 'limits' | 'places'>> {
  const { words, bits } = sets
  const limits = Float64Array.from(changes.keys()).sort()
  const places = new Int32Array(limits.length + 1)
  places[0] = lowest
  // All pairs are consecutive, so that a sparse set has all pairs since the last full set.
  let start = bits.length
  for (const limit of limits) append(bits, changes.get(limit) ?? [])
  let [base, end] = [lowest, start]
  for (const [number, limit] of limits.entries()) {
    if (number % VALUES_PER_CHUNK === 0) yield
    end += changes.get(limit)?.length ?? 0
    if (isSparse(words, end - start)) {
      places[number + 1] = ~append(bits, [base, start, end])
      continue
    }
    base = appendFull(sets, base, [bits, start, end])
    places[number + 1] = base
    start = end
  }
  return { limits, places }
}

/** Returns the number of limits, in ascending order, that are not greater than a position. */
export function countUpTo(limits: Float64Array, position: number): number {
  let low = 0
  let high = limits.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((limits[middle] ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return low
}
