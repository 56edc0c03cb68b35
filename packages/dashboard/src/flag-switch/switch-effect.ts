import type { FlagView } from '@ff/protocol/management'
import type { Configuration } from '../draft/configuration.ts'
import { type Names, shown } from '../draft/sentence.ts'
import { messages } from '../messages/messages.ts'
import type { Sentence } from '../messages/phrases/fragment.ts'

/** Returns what everyone gets after a flag is switched on or off, in words. */
export function effectSentence(
  flag: FlagView,
  { state, targetingRules }: Configuration,
  isActive: boolean,
): Sentence {
  const texts = messages.flagSwitch
  const own = flag.variations.find(({ isDefault }) => isDefault)?.id
  const byDefault = state.defaultVariationId ?? own
  const served = (isActive ? null : state.offVariationId) ?? byDefault
  const name = flag.variations.find(({ id }) => id === served)?.name
  const words = name === undefined ? texts.nothing : [shown(name, 'variation')]
  const targets = state.targets.reduce((sum, { keys }) => sum + keys.length, 0)
  const parts = [
    [targets, texts.targets],
    [targetingRules.length, texts.rules],
    [state.prerequisites.length, texts.prerequisites],
  ] as const
  const listed = parts.flatMap(([count, inWords]) => (count === 0 ? [] : [inWords(count)]))
  return isActive && listed.length > 0 ? texts.ruled(listed, words) : texts.everyoneGets(words)
}

/** Returns the names for sentences about one flag. Other flags and segments appear as ids. */
export function namesOf({ variations }: FlagView): Names {
  const byId = new Map(variations.map(({ id, name }) => [id, name]))
  const same = (id: string) => id
  return { variation: (id) => byId.get(id) ?? id, segment: same, flag: same }
}
