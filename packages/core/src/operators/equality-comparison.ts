import type { JsonArray, JsonValue } from '../model/json.ts'
import {
  asStructure,
  type Comparison,
  type Fold,
  parseArray,
  parseStructure,
  scalarText,
} from './comparison.ts'
import { StructureSet } from './structure-set.ts'

/** Equal to the text, or to the array or object that the text is the JSON of. */
export function equality(fold: Fold): Comparison {
  return {
    expects: 'text',
    read: (value, means) => {
      const literals = means.lazily(() => new LiteralSet([value], fold))
      return (candidate) => literals().has(candidate)
    },
  }
}

/** Equal to any of a list. */
export function membership(fold: Fold): Comparison {
  return {
    expects: 'list',
    read: (value, means) => {
      if (readList(value) === undefined) return undefined
      const literals = means.lazily(() => new LiteralSet(readList(value) ?? [], fold))
      return (candidate) => literals().has(candidate)
    },
  }
}

/** The list that a text is the JSON of, else the text alone; `undefined` if the list contains null. */
export function readList(value: string): JsonArray | undefined {
  const list = parseArray(value) ?? [value]
  return list.includes(null) ? undefined : list
}

/** What the value of a condition lists. */
export class LiteralSet {
  readonly #texts = new Set<string>()
  readonly #structures = new StructureSet()
  readonly #fold: Fold

  constructor(literals: JsonArray, fold: Fold) {
    this.#fold = fold
    for (const literal of literals) {
      const text = scalarText(literal)
      if (text !== undefined) this.#texts.add(fold(text))
      const structure = structureIn(literal)
      if (structure !== undefined) this.#structures.add(structure)
    }
  }

  /** Whether the value equals one of the literals. */
  has(value: JsonValue): boolean {
    const text = scalarText(value)
    return text === undefined ? this.#structures.has(value) : this.#texts.has(this.#fold(text))
  }
}

/** The array or object that a literal is, or that its text is the JSON of. */
export function structureIn(literal: JsonValue) {
  return typeof literal === 'string' ? parseStructure(literal) : asStructure(literal)
}
