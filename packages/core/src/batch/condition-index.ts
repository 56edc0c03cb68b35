import type { ConditionDefinition } from '../model/definition.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import { isStringSetCondition, stringsOf } from '../operators/string-set-condition.ts'
import {
  type AttributeIndex,
  type AttributeRow,
  indexAttribute,
  type TextCondition,
} from './attribute-index.ts'
import { addTo, packed, type SparseBits } from './bit-set.ts'

/** A rule row: conditions and, optionally, a segment that must all match. */
export interface RuleRow {
  readonly conditions: readonly CompiledCondition[]
  /** The definition of each of `conditions`. */
  readonly definitions: readonly ConditionDefinition[]
  readonly segmentId: string | null
}

/**
 * An index of many rule rows that are evaluated together. A set of rule rows has one bit per row.
 * Each attribute of a context removes the rule rows that do not match, so that the work grows with
 * the number of attributes, not with the number of rule rows. Created by `indexRuleRows`.
 */
export interface ConditionIndex {
  /** The number of words of a set of rule rows. */
  readonly words: number
  /** The set of the rule rows that can match. */
  readonly possible: Int32Array
  readonly attributes: readonly AttributeIndex[]
  /** The set of all rows, followed by the sets of all attribute indexes. */
  readonly bits: Int32Array
  /** The ids of the segments that rule rows require. */
  readonly segmentIds: readonly string[]
  /** The sparse set of the rule rows that require each segment, in the order of `segmentIds`. */
  readonly rowsBySegment: SparseBits
  /** The distinct conditions that depend on more than the text of an attribute. */
  readonly unindexed: readonly UnindexedCondition[]
}

/** A condition that is evaluated separately. */
export interface UnindexedCondition {
  readonly condition: CompiledCondition
  /** The rule rows that contain the condition. */
  readonly ruleRows: SparseBits
}

/** The number of rule rows that are indexed without interruption. */
const ROWS_PER_CHUNK = 256
/** The number of characters of condition values that are indexed without interruption. */
const CHARACTERS_PER_CHUNK = 65_536

/** Builds the index incrementally. An `undefined` row has a bit, but never matches. */
export function* indexRuleRows(
  rows: readonly (RuleRow | undefined)[],
): Incremental<ConditionIndex> {
  const builder = new IndexBuilder(rows.length)
  let characters = 0
  for (const [number, row] of rows.entries()) {
    if (number % ROWS_PER_CHUNK === 0 || characters > CHARACTERS_PER_CHUNK) {
      characters = 0
      yield
    }
    if (row === undefined) continue
    builder.add(number, row)
    for (const { value } of row.definitions) characters += value.length
  }
  return yield* builder.build()
}

class IndexBuilder {
  readonly #possible: Int32Array
  readonly #attributes = new Map<string, AttributeRow[]>()
  readonly #unindexed = new Map<CompiledCondition, number[]>()
  readonly #segments = new Map<string, number[]>()

  constructor(rows: number) {
    this.#possible = new Int32Array(Math.ceil(rows / 32))
  }

  add(row: number, { conditions, definitions, segmentId }: RuleRow): void {
    // An invalid condition never matches, so the row never matches either.
    if (conditions.some(({ test }) => test === undefined)) return
    this.#possible[row >>> 5] = (this.#possible[row >>> 5] ?? 0) | (1 << (row & 31))
    const newList = () => []
    if (segmentId !== null) addTo(getOrMake(this.#segments, segmentId, newList), row)
    const byAttribute = new Map<string, TextCondition[]>()
    for (const [index, condition] of conditions.entries()) {
      const definition = definitions[index]
      if (definition === undefined) continue
      const text = textConditionOf(condition, definition)
      if (text === undefined) addTo(getOrMake(this.#unindexed, condition, newList), row)
      else getOrMake(byAttribute, definition.attribute, newList).push(text)
    }
    for (const [attribute, conditions] of byAttribute) {
      getOrMake(this.#attributes, attribute, newList).push({ row, conditions })
    }
  }

  *build(): Incremental<ConditionIndex> {
    const words = this.#possible.length
    // One array for all sets, for locality of memory access.
    const bits = new Array<number>(words).fill(-1)
    const attributes: AttributeIndex[] = []
    for (const [attribute, rows] of this.#attributes) {
      attributes.push(yield* indexAttribute(attribute, rows, { words, bits }))
    }
    yield
    return {
      words,
      possible: this.#possible,
      attributes,
      bits: Int32Array.from(bits),
      segmentIds: [...this.#segments.keys()],
      rowsBySegment: packed([...this.#segments.values()]),
      unindexed: [...this.#unindexed].map(([condition, rows]) => {
        return { condition, ruleRows: packed([rows]) }
      }),
    }
  }
}

/**
 * Returns the condition as a `TextCondition`, or `undefined` if its result depends on more than the
 * text of the attribute.
 */
function textConditionOf(
  condition: CompiledCondition,
  definition: ConditionDefinition,
): TextCondition | undefined {
  const { operator } = definition
  if (operator === 'exists' || operator === 'not_exists') {
    return { condition, texts: [], isForOthers: true }
  }
  if (!isStringSetCondition(definition)) return undefined
  return { condition, texts: stringsOf(definition), isForOthers: false }
}
