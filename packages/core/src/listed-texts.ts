import { scalarTextsOf } from './comparison.ts'
import type { ConditionDefinition } from './definition.ts'

const ASKS_FOR_LISTED: ReadonlySet<string> = new Set(['eq', 'neq', 'in', 'not_in'])

/** Whether a condition that could be read asks no more of text than whether it is one of a few. */
export function asksForListed({ operator }: ConditionDefinition): boolean {
  return ASKS_FOR_LISTED.has(operator)
}

/** The texts that such a condition lists. */
export function listedTexts({ operator, value }: ConditionDefinition): readonly string[] {
  return operator === 'eq' || operator === 'neq' ? [value] : scalarTextsOf(value)
}

/** Judges text by whether it is listed; undefined: that is not what the condition asks. */
export function listReader(
  definition: ConditionDefinition,
  isListWanted: boolean,
): ((text: string) => boolean) | undefined {
  if (!asksForListed(definition)) return undefined
  let texts: ReadonlySet<string> | undefined
  return (text) => {
    // Kept only once somebody asks: most answers come from an index.
    texts ??= new Set(listedTexts(definition))
    return texts.has(text) === isListWanted
  }
}
