import type { ConditionDefinition } from '../model/definition.ts'
import { scalarTextsOf } from './comparison.ts'
import { readList, structureIn } from './equality-comparison.ts'

const ASKS_FOR_LISTED: ReadonlySet<string> = new Set(['eq', 'neq', 'in', 'not_in'])

/** Whether a condition that could be read asks no more of text than whether it is one of a few. */
export function asksForListed({ operator }: ConditionDefinition): boolean {
  return ASKS_FOR_LISTED.has(operator)
}

/** The texts that such a condition lists. */
export function listedTexts({ operator, value }: ConditionDefinition): readonly string[] {
  return isSingle(operator) ? [value] : scalarTextsOf(value)
}

function isSingle(operator: string): boolean {
  return operator === 'eq' || operator === 'neq'
}

/** Decides a condition that asks for listed texts, by the texts of an attribute. */
export class ListedTexts {
  readonly #definition: ConditionDefinition
  readonly #isListWanted: boolean
  /** Kept only once needed: most answers come from an index. */
  #listed: ReadonlySet<string> | undefined
  #hasStructures: boolean | undefined

  constructor(definition: ConditionDefinition, isListWanted: boolean) {
    this.#definition = definition
    this.#isListWanted = isListWanted
  }

  /** Whether the condition holds for the text. */
  holdsFor(text: string): boolean {
    this.#listed ??= new Set(listedTexts(this.#definition))
    return this.#listed.has(text) === this.#isListWanted
  }

  /**
   * Whether the condition holds for an array with these texts as elements; undefined: it lists
   * structures, too.
   */
  holdsForSome(texts: ReadonlySet<string>): boolean | undefined {
    this.#hasStructures ??= listsStructures(this.#definition)
    if (this.#hasStructures) return undefined
    this.#listed ??= new Set(listedTexts(this.#definition))
    return intersect(this.#listed, texts) === this.#isListWanted
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
