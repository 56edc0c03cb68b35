import type { ConditionDefinition } from '../model/definition.ts'
import { scalarTextsOf } from './comparison.ts'
import { readList, structureIn } from './equality-comparison.ts'

const STRING_SET_OPERATORS: ReadonlySet<string> = new Set(['eq', 'neq', 'in', 'not_in'])

/**
 * Returns `true` if the result of a valid condition for a text depends only on whether a set of
 * strings contains the text.
 */
export function isStringSetCondition({ operator }: ConditionDefinition): boolean {
  return STRING_SET_OPERATORS.has(operator)
}

/** Returns the strings that a string-set condition lists. */
export function stringsOf({ operator, value }: ConditionDefinition): readonly string[] {
  return isSingle(operator) ? [value] : scalarTextsOf(value)
}

function isSingle(operator: string): boolean {
  return operator === 'eq' || operator === 'neq'
}

/** Evaluates a string-set condition for the texts of an attribute. */
export class StringSetCondition {
  readonly #definition: ConditionDefinition
  readonly #isListWanted: boolean
  /**
   * The listed strings. Created when they are first needed, because most results come from an
   * index.
   */
  #strings: ReadonlySet<string> | undefined
  #hasStructures: boolean | undefined

  constructor(definition: ConditionDefinition, isListWanted: boolean) {
    this.#definition = definition
    this.#isListWanted = isListWanted
  }

  /** Returns `true` if the condition matches the text. */
  holdsFor(text: string): boolean {
    this.#strings ??= new Set(stringsOf(this.#definition))
    return this.#strings.has(text) === this.#isListWanted
  }

  /**
   * Returns `true` if the condition matches an array with these texts as elements. `undefined` if
   * the condition also lists arrays or objects.
   */
  holdsForAny(texts: ReadonlySet<string>): boolean | undefined {
    this.#hasStructures ??= listsStructures(this.#definition)
    if (this.#hasStructures) return undefined
    this.#strings ??= new Set(stringsOf(this.#definition))
    return intersect(this.#strings, texts) === this.#isListWanted
  }
}

function listsStructures({ operator, value }: ConditionDefinition): boolean {
  const literals = isSingle(operator) ? [value] : (readList(value) ?? [])
  return literals.some((literal) => structureIn(literal) !== undefined)
}

function intersect(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  const [few, many] = left.size < right.size ? [left, right] : [right, left]
  for (const text of few) if (many.has(text)) return true
  return false
}
