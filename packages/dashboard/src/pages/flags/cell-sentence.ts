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
  const served = servedWords(variations, defaultVariationId)
  switch (shape) {
    case 'off':
      return cells.off(servedWords(variations, offVariationId ?? defaultVariationId))
    case 'everybody':
      return cells.everyone(served)
    case 'rules':
      return cells.others(partsOf(summary, 1), served)
    default:
      return rolloutSentence(variations, summary)
  }
}

/** Returns the shares of a rollout. Its own rule is not counted. */
function rolloutSentence(variations: Variations, summary: EnvironmentSummary): Sentence {
  const split = summary.split ?? []
  const shown = split.slice(0, SHOWN_SHARES).map(({ variationId, percent }) => {
    return cells.gets(percent, fragmentOf(variations, variationId))
  })
  const rest = split.length - shown.length
  const words = [...shown, ...(rest > 0 ? [cells.more(rest)] : [])]
  const shares = words.flatMap((each, index) => (index === 0 ? each : [COMMA, ...each]))
  const parts = cells.parts(shares, partsOf(summary, 2))
  return summary.nextStepAt === null ? parts : cells.nextStep(parts, summary.nextStepAt)
}

const COMMA: Fragment = { text: ', ', kind: 'plain' }

/** Returns the numbers of rules, targets and prerequisites; of rules only from `fewestRules`. */
function partsOf(summary: EnvironmentSummary, fewestRules: number): readonly string[] {
  const { ruleCount, targetCount, prerequisiteCount } = summary
  return [
    ...(ruleCount >= fewestRules ? [cells.rules(ruleCount)] : []),
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
