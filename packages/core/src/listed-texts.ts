import { scalarTextsOf } from './comparison.ts'
import type { ConditionDefinition } from './definition.ts'
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

/** Decides a condition by the texts that it lists. */
export interface ListReader {
  readonly holdsForText: (text: string) => boolean
  /** For an array with these texts as elements; undefined: the condition lists structures, too. */
  readonly holdsForTexts: (texts: ReadonlySet<string>) => boolean | undefined
}

/** Reads a condition that asks for listed texts; undefined: the condition asks for something else. */
export function listReader(
  definition: ConditionDefinition,
  isListWanted: boolean,
): ListReader | undefined {
  if (!asksForListed(definition)) return undefined
  // Kept only once needed: most answers come from an index.
  let listed: ReadonlySet<string> | undefined
  let hasStructures: boolean | undefined
  return {
    holdsForText: (text) => {
      listed ??= new Set(listedTexts(definition))
      return listed.has(text) === isListWanted
    },
    holdsForTexts: (texts) => {
      hasStructures ??= listsStructures(definition)
      if (hasStructures) return undefined
      listed ??= new Set(listedTexts(definition))
      return intersect(listed, texts) === isListWanted
    },
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
