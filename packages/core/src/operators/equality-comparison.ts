import { containsInexact, isInexact, type JsonArray, type JsonValue } from '../model/json.ts'
import {
  asStructure,
  type Comparison,
  type Fold,
  parseArray,
  parseStructure,
  scalarText,
  type TestResult,
} from './comparison.ts'
import { StructureSet } from './structure-set.ts'

/**
 * Creates a comparison that matches a value with the same text as the value of the condition. If
 * this text is a JSON array or object, an equal array or object also matches. An inexact number is
 * unreadable.
 */
export function equality(fold: Fold): Comparison {
  return {
    expects: 'text',
    read: (value, means) => {
      const literals = means.lazily(() => new LiteralSet([value], fold))
      return (candidate) => literals().compare(candidate)
    },
  }
}

/** Creates a comparison that matches any value of a list. An inexact number is unreadable. */
export function membership(fold: Fold): Comparison {
  return {
    expects: 'list',
    read: (value, means) => {
      if (readList(value) === undefined) return undefined
      const literals = means.lazily(() => new LiteralSet(readList(value) ?? [], fold))
      return (candidate) => literals().compare(candidate)
    },
  }
}

/**
 * Parses a JSON array. If `value` is not a JSON array, returns a list with only `value`. Returns
 * `undefined` if the array contains `null`.
 */
export function readList(value: string): JsonArray | undefined {
  const list = parseArray(value) ?? [value]
  return list.includes(null) ? undefined : list
}

/** The set of the values that a condition lists. */
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

  /**
   * Returns `true` if the value equals one of the literals. An inexact number is unreadable, and an
   * array or object that contains one equals no literal.
   */
  compare(value: JsonValue): TestResult {
    if (isInexact(value)) return 'unreadable'
    const text = scalarText(value)
    if (text !== undefined) return this.#texts.has(this.#fold(text))
    return this.#structures.has(value) && !containsInexact(value)
  }
}

/**
 * Returns the array or object that a literal is or contains as JSON text. `undefined` if there is
 * none.
 */
export function structureIn(literal: JsonValue) {
  return typeof literal === 'string' ? parseStructure(literal) : asStructure(literal)
}
