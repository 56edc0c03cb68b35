import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import { addTo, type IndexBits, packed, type SparseBits } from './bit-set.ts'
import { type RuleRow, sourceOf, type ValueTest } from './rule-row.ts'
import { type IndexedValue, indexValue, type ValueIndex, type ValueRow } from './value-index.ts'
import type { ValueSource } from './value-source.ts'

/**
 * An index of many rule rows that are evaluated together. A set of rule rows has one bit per row.
 * Each value of a context removes the rule rows that do not match, so that the work grows with the
 * number of values, not with the number of rule rows. Created by `indexRuleRows`.
 */
export interface ConditionIndex extends IndexBits {
  /** The set of the rule rows that can match. */
  readonly possible: Int32Array
  readonly values: readonly ValueIndex[]
  /** The ids of the segments that rule rows require. */
  readonly segmentIds: readonly string[]
  /** The sparse set of the rule rows that require each segment, in the order of `segmentIds`. */
  readonly rowsBySegment: SparseBits
  /** The distinct conditions that are evaluated separately. */
  readonly unindexed: readonly UnindexedCondition[]
}

/** A condition that is evaluated separately. */
export interface UnindexedCondition {
  readonly condition: CompiledCondition
  /** The source of the value that the condition reads. `undefined` if it reads none. */
  readonly source: ValueSource | undefined
  /** The rule rows that contain the condition. */
  readonly ruleRows: SparseBits
}

/** The number of rule rows that are indexed without interruption. */
const ROWS_PER_CHUNK = 256
/** The number of texts that are indexed without interruption. */
const TEXTS_PER_CHUNK = 4096
/**
 * The length of the texts in one index of searches, in UTF-16 units. It limits the work without
 * interruption.
 */
const UNITS_PER_SEARCH = 8192

/**
 * Builds the index of the rows of many parts incrementally. A part without a row has a bit, but
 * never matches.
 */
export function* indexRuleRows<Part>(
  parts: readonly Part[],
  rowOf: (part: Part) => RuleRow | undefined,
): Incremental<ConditionIndex> {
  const builder = new IndexBuilder(parts.length)
  let texts = 0
  for (const [number, part] of parts.entries()) {
    if (number % ROWS_PER_CHUNK === 0 || texts > TEXTS_PER_CHUNK) {
      texts = 0
      yield
    }
    const row = rowOf(part)
    if (row === undefined) continue
    builder.add(number, row)
    for (const test of row.tests) texts += test.texts.length
  }
  return yield* builder.build()
}

class IndexBuilder {
  readonly #possible: Int32Array
  readonly #values = new Map<string, { readonly value: IndexedValue; readonly rows: ValueRow[] }>()
  readonly #unindexed = new Map<CompiledCondition, number[]>()
  readonly #segments = new Map<string, number[]>()
  /** The number of the index of searches that contains each condition. */
  readonly #parts = new Map<CompiledCondition | undefined, number>()
  /** The total length of the texts that the conditions in `#parts` list. */
  #units = 0

  constructor(rows: number) {
    this.#possible = new Int32Array(Math.ceil(rows / 32))
  }

  add(row: number, { tests, conditions, segmentIds }: RuleRow): void {
    this.#possible[row >>> 5] = (this.#possible[row >>> 5] ?? 0) | (1 << (row & 31))
    const newList = () => []
    for (const id of new Set(segmentIds)) addTo(getOrMake(this.#segments, id, newList), row)
    for (const condition of conditions) addTo(getOrMake(this.#unindexed, condition, newList), row)
    const byValue = new Map<string, [ValueTest, ...ValueTest[]]>()
    for (const test of tests) {
      const name = this.#nameOf(test, byValue)
      const own = byValue.get(name)
      if (own === undefined) byValue.set(name, [test])
      else own.push(test)
    }
    for (const [name, own] of byValue) {
      const { rows } = getOrMake(this.#values, name, () => ({ value: own[0], rows: [] }))
      rows.push({ row, tests: own })
    }
  }

  /** Returns the name of the index of a test. `used` are the indexes of the row's other tests. */
  #nameOf(
    { source, scale, search, texts, condition }: ValueTest,
    used: Pick<ReadonlyMap<string, unknown>, 'has'>,
  ): string {
    if (search === undefined) return `${scale?.name ?? 'text'} ${source.name}`
    // Equal conditions are in one index, so that the length of different texts limits its number.
    const part = getOrMake(this.#parts, condition, () => {
      const units = this.#units
      this.#units += texts.reduce((sum, { length }) => sum + length, 0)
      return Math.floor(units / UNITS_PER_SEARCH)
    })
    let name = `${part} ${search.name} ${source.name}`
    while (used.has(name)) name = `another ${name}`
    return name
  }

  *build(): Incremental<ConditionIndex> {
    const words = this.#possible.length
    // One array for all sets, for locality of memory access.
    const bits = new Array<number>(words).fill(-1)
    const values: ValueIndex[] = []
    // Values with tests in many rows come first, because they remove the rows of other tests.
    const sorted = [...this.#values.values()].sort((a, b) => b.rows.length - a.rows.length)
    for (const { value, rows } of sorted) {
      values.push(yield* indexValue(value, rows, { words, bits }))
    }
    yield
    const withRoom = new Int32Array(bits.length + words)
    withRoom.set(bits)
    return {
      words,
      possible: this.#possible,
      values,
      bits: withRoom,
      room: bits.length,
      segmentIds: [...this.#segments.keys()],
      rowsBySegment: packed([...this.#segments.values()]),
      unindexed: [...this.#unindexed].map(([condition, rows]) => {
        return { condition, source: sourceOf(condition), ruleRows: packed([rows]) }
      }),
    }
  }
}
