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

/** A rule row: conditions and a segment that must hold together. */
export interface RuleRow {
  readonly conditions: readonly CompiledCondition[]
  /** What the conditions were made of, one by one. */
  readonly definitions: readonly ConditionDefinition[]
  readonly segmentId: string | null
}

/**
 * An index of many rule rows that are evaluated together. A rule row is one bit. Each attribute of a
 * context clears the bits of the rule rows that do not hold, so the work grows with the number of
 * attributes, not with the number of rule rows. Made by `indexRuleRows`.
 */
export interface ConditionIndex {
  readonly words: number
  /** The words of the rule rows that can hold at all. */
  readonly possible: Int32Array
  readonly attributes: readonly AttributeIndex[]
  /** The words of all rows, then those that each attribute has for its values. */
  readonly bits: Int32Array
  readonly segmentIds: readonly string[]
  /** For each segment the rule rows that require it, one set behind the other. */
  readonly rowsBySegment: SparseBits
  /** The conditions that depend on more than the text of an attribute, each once. */
  readonly unindexed: readonly UnindexedCondition[]
}

export interface UnindexedCondition {
  readonly condition: CompiledCondition
  /** The rule rows that contain it. */
  readonly ruleRows: SparseBits
}

/** A chunk of work ends after this many rule rows, or characters of their values. */
const ROWS_PER_CHUNK = 256
const CHARACTERS_PER_CHUNK = 65_536

/** Builds the index incrementally. The first rule row is bit 0; an undefined rule row never holds. */
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
    // A condition that cannot be read never holds, and so neither does the row.
    if (conditions.some(({ test }) => test === undefined)) return
    this.#possible[row >>> 5] = (this.#possible[row >>> 5] ?? 0) | (1 << (row & 31))
    const newList = () => []
    if (segmentId !== null) addTo(getOrMake(this.#segments, segmentId, newList), row)
    const asked = new Map<string, TextCondition[]>()
    for (const [index, condition] of conditions.entries()) {
      const definition = definitions[index]
      if (definition === undefined) continue
      const asks = textConditionOf(condition, definition)
      if (asks === undefined) addTo(getOrMake(this.#unindexed, condition, newList), row)
      else getOrMake(asked, definition.attribute, newList).push(asks)
    }
    for (const [attribute, about] of asked) {
      getOrMake(this.#attributes, attribute, newList).push({ row, conditions: about })
    }
  }

  *build(): Incremental<ConditionIndex> {
    const words = this.#possible.length
    // In one array, which a processor likes better than many.
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

/** undefined: the text of the attribute is not all that the condition depends on. */
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
