import type { ConditionDefinition } from '../model/definition.ts'
import { scalarTextsOf } from './comparison.ts'
import { readList, structureIn } from './equality-comparison.ts'

const STRING_SET_OPERATORS: ReadonlySet<string> = new Set(['eq', 'neq', 'in', 'not_in'])

/** Whether the result of a readable condition for a text depends only on membership in a set of strings. */
export function isStringSetCondition({ operator }: ConditionDefinition): boolean {
  return STRING_SET_OPERATORS.has(operator)
}

/** The strings that such a condition lists. */
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
  /** Kept only once needed: most answers come from an index. */
  #strings: ReadonlySet<string> | undefined
  #hasStructures: boolean | undefined

  constructor(definition: ConditionDefinition, isListWanted: boolean) {
    this.#definition = definition
    this.#isListWanted = isListWanted
  }

  /** Whether the condition holds for the text. */
  holdsFor(text: string): boolean {
    this.#strings ??= new Set(stringsOf(this.#definition))
    return this.#strings.has(text) === this.#isListWanted
  }

  /**
   * Whether the condition holds for an array with these texts as elements; `undefined` if the
   * condition also lists arrays or objects.
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
