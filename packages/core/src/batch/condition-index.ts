import type { ConditionDefinition } from '../model/definition.ts'
import type { Parts } from '../model/parts.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import { asksForListed, listedTexts } from '../operators/listed-texts.ts'
import {
  type AttributeIndex,
  type AttributeRow,
  indexAttribute,
  type TextCondition,
} from './attribute-index.ts'
import { addTo, packed, type SparseBits } from './bit-set.ts'

/** What must hold together: the conditions of a rule, and the segment it is for. */
export interface IndexRow {
  readonly conditions: readonly CompiledCondition[]
  /** What the conditions were made of, one by one. */
  readonly definitions: readonly ConditionDefinition[]
  readonly segmentId: string | null
}

/**
 * Many rows, to be judged together. A row is one bit, and whatever is known of a context clears
 * the bits of the rows that do not hold, so that the work grows with the number of attributes and
 * not with the number of rows. Made by `indexRows`.
 */
export interface ConditionIndex {
  readonly words: number
  /** The words of the rows that can hold at all. */
  readonly possible: Int32Array
  readonly attributes: readonly AttributeIndex[]
  /** The words of all rows, then those that each attribute has for its values. */
  readonly bits: Int32Array
  readonly segmentIds: readonly string[]
  /** For each segment the rows that are for it, one set behind the other. */
  readonly neededBySegment: SparseBits
  /** The conditions that the text of an attribute cannot decide, each once. */
  readonly judged: readonly JudgedCondition[]
}

export interface JudgedCondition {
  readonly condition: CompiledCondition
  /** The rows that have it. */
  readonly neededBy: SparseBits
}

/** After how many rows, and how many characters of their values, a part of the work is done. */
const ROWS_A_PART = 256
const CHARACTERS_A_PART = 65_536

/** Prepares, in parts, rows of which the first is bit 0; one that is undefined never holds. */
export function* indexRows(rows: readonly (IndexRow | undefined)[]): Parts<ConditionIndex> {
  const builder = new IndexBuilder(rows.length)
  let characters = 0
  for (const [number, row] of rows.entries()) {
    if (number % ROWS_A_PART === 0 || characters > CHARACTERS_A_PART) {
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
  readonly #judged = new Map<CompiledCondition, number[]>()
  readonly #segments = new Map<string, number[]>()

  constructor(rows: number) {
    this.#possible = new Int32Array(Math.ceil(rows / 32))
  }

  add(row: number, { conditions, definitions, segmentId }: IndexRow): void {
    // A condition that cannot be read never holds, and so neither does the row.
    if (conditions.some(({ test }) => test === undefined)) return
    this.#possible[row >>> 5] = (this.#possible[row >>> 5] ?? 0) | (1 << (row & 31))
    if (segmentId !== null)
      addTo(
        getOrMake(this.#segments, segmentId, () => []),
        row,
      )
    const asked = new Map<string, TextCondition[]>()
    for (const [index, condition] of conditions.entries()) {
      const definition = definitions[index]
      if (definition === undefined) continue
      const asks = textConditionOf(condition, definition)
      if (asks === undefined)
        addTo(
          getOrMake(this.#judged, condition, () => []),
          row,
        )
      else getOrMake(asked, definition.attribute, () => []).push(asks)
    }
    for (const [attribute, about] of asked) {
      getOrMake(this.#attributes, attribute, () => []).push({ row, conditions: about })
    }
  }

  *build(): Parts<ConditionIndex> {
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
      neededBySegment: packed([...this.#segments.values()]),
      judged: [...this.#judged].map(([condition, rows]) => {
        return { condition, neededBy: packed([rows]) }
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
  if (!asksForListed(definition)) return undefined
  return { condition, texts: listedTexts(definition), isForOthers: false }
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
