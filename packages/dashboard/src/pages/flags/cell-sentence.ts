import type { EnvironmentSummary, FlagSummary } from '@ff/protocol/management'
import { messages } from '../../messages/messages.ts'
import type { Fragment, Sentence } from '../../messages/phrases/fragment.ts'

const { cells } = messages.flags
/** The number of variations that a cell names. */
const SHOWN_SHARES = 2
const MOST_CHARACTERS = 40

type Variations = FlagSummary['variations']

/** Returns what a flag does in an environment, in words: "25 % get true · 2 rules". */
export function cellSentence(variations: Variations, summary: EnvironmentSummary): Sentence {
  const { shape, defaultVariationId, offVariationId } = summary
  switch (shape) {
    case 'off':
      return cells.off(servedWords(variations, offVariationId ?? defaultVariationId))
    case 'everybody':
      return cells.everyone(servedWords(variations, defaultVariationId))
    case 'rules':
      return rulesSentence(variations, summary)
    default:
      return rolloutSentence(variations, summary)
  }
}

/** Returns what the rules serve, and what all other contexts get. */
function rulesSentence(variations: Variations, summary: EnvironmentSummary): Sentence {
  const { conditionalRuleCount, ruleVariationIds } = summary
  const others = servedWords(variations, summary.othersVariationId)
  const served = ruleVariationIds.map((id) => [fragmentOf(variations, id)])
  const canName = served.length > 0 && served.length <= SHOWN_SHARES
  const words = [
    ...(canName ? [cells.serves(conditionalRuleCount, listOf(served))] : rulesOf(summary)),
    ...othersOf(summary),
  ]
  return words.length === 0 ? cells.everyone(others) : cells.others(listOf(words), others)
}

/** Returns the shares of a rollout, and for which contexts they apply if its rule has conditions. */
function rolloutSentence(variations: Variations, summary: EnvironmentSummary): Sentence {
  const { split, conditionalRuleCount, splitIsConditional, nextStepAt } = summary
  const shares = sharesOf(variations, split ?? [])
  const words = nextStepAt === null ? shares : cells.nextStep(shares, nextStepAt)
  if (!splitIsConditional) {
    return cells.parts(words, listOf([...rulesOf(summary), ...othersOf(summary)]))
  }
  const others = servedWords(variations, summary.othersVariationId)
  const within = [cells.within(conditionalRuleCount, words), ...othersOf(summary)]
  return cells.others(listOf(within), others)
}

function sharesOf(variations: Variations, split: NonNullable<EnvironmentSummary['split']>) {
  const shown = split.slice(0, SHOWN_SHARES).map(({ variationId, percent }) => {
    return cells.gets(percent, fragmentOf(variations, variationId))
  })
  const rest = split.length - shown.length
  return listOf([...shown, ...(rest > 0 ? [cells.more(rest)] : [])])
}

const COMMA: Fragment = { text: ', ', kind: 'plain' }

function listOf(words: readonly Sentence[]): Sentence {
  return words.flatMap((each, index) => (index === 0 ? each : [COMMA, ...each]))
}

/** Returns the number of rules with conditions; nothing if there is none. */
function rulesOf({ conditionalRuleCount }: EnvironmentSummary): readonly Sentence[] {
  return conditionalRuleCount > 0 ? [cells.rules(conditionalRuleCount)] : []
}

/** Returns the numbers of targets and prerequisites; nothing of what there is none. */
function othersOf({ targetCount, prerequisiteCount }: EnvironmentSummary): readonly Sentence[] {
  return [
    ...(targetCount > 0 ? [cells.targets(targetCount)] : []),
    ...(prerequisiteCount > 0 ? [cells.prerequisites(prerequisiteCount)] : []),
  ]
}

function servedWords(variations: Variations, id: string | null): Sentence {
  return id === null ? cells.nothing : [fragmentOf(variations, id)]
}

function fragmentOf(variations: Variations, id: string): Fragment {
  const name = variations.find((variation) => variation.id === id)?.name ?? id
  const isLong = name.length > MOST_CHARACTERS
  return { text: isLong ? `${name.slice(0, MOST_CHARACTERS)}…` : name, kind: 'variation' }
}
