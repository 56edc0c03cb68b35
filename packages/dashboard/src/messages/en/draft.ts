import { type Fragment, phrase, type Sentence } from '../phrases/fragment.ts'
import { operatorWords, unknownOperator } from './operators.ts'

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 })
const dates = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'short',
})
const lists = {
  and: new Intl.ListFormat('en-GB', { type: 'conjunction', style: 'long' }),
  or: new Intl.ListFormat('en-GB', { type: 'disjunction', style: 'long' }),
}

const number = (value: number) => numbers.format(value)
const percent = (value: number) => `${numbers.format(value)} %`
const ordinal = (index: number) => numbers.format(index + 1)

function date(text: string): string {
  const time = Date.parse(text)
  return Number.isFinite(time) ? dates.format(time) : text
}

/** Returns the items of a list in one sentence, such as "a, b and c". */
function list(items: readonly Sentence[], kind: 'and' | 'or' = 'and'): Sentence {
  const parts = lists[kind].formatToParts(items.map((_, index) => String(index)))
  const joined = parts.flatMap(({ type, value }): Sentence => {
    return type === 'element' ? (items[Number(value)] ?? []) : [{ text: value, kind: 'plain' }]
  })
  return phrase`${joined}`
}

/** Returns words for one or several, such as "1 key" and "2 keys". */
const counted = (count: number, one: string, several: string) =>
  `${number(count)} ${count === 1 ? one : several}`

const from = (before: Sentence, after: Sentence) => phrase`${before} → ${after}`

const plain = (text: string): Sentence => [{ text, kind: 'plain' }]

const sentences = {
  condition: (operator: string, negate: boolean) => {
    const words = operatorWords.get(operator)
    if (words !== undefined) return words[negate ? 1 : 0]
    const unknown = unknownOperator(operator)
    return (attribute: Sentence, value: Sentence) =>
      negate ? phrase`not (${unknown(attribute, value)})` : unknown(attribute, value)
  },
  remainder: (remainder: Fragment, divisor: Fragment) =>
    phrase`${remainder} when divided by ${divisor}`,
  inSegment: (segment: Fragment) => phrase`in segment ${segment}`,
  rule: (conditions: Sentence, outcome: Sentence) => phrase`If ${conditions} → ${outcome}`,
  everyone: (outcome: Sentence) => phrase`Everyone → ${outcome}`,
  nothingServed: plain('nothing'),
  share: (variation: Sentence, share: number) => phrase`${variation} for ${percent(share)}`,
  bucketedBy: (shares: Sentence, attribute: Fragment) => phrase`${shares}, by ${attribute}`,
  gradual: (variation: Sentence, target: number, increment: number, hours: number) =>
    phrase`${variation} for ${percent(increment)} more every ${counted(hours, 'hour', 'hours')}, up to ${percent(target)}`,
  startingAt: (text: Sentence, startAt: string) => phrase`${text}, from ${date(startAt)}`,
  incomplete: plain('an incomplete rollout'),
  target: (kind: string, keys: Sentence, variation: Fragment) =>
    phrase`${kind} ${keys} → ${variation}`,
  prerequisite: (flag: Fragment, variations: Sentence) => phrase`flag ${flag} serves ${variations}`,
  stateOn: (variation: Sentence) => phrase`On: everyone gets ${variation}`,
  stateOnWithRules: (variation: Sentence) =>
    phrase`On: rules apply, everyone else gets ${variation}`,
  stateOff: (variation: Sentence) => phrase`Off: everyone gets ${variation}`,
  more: (count: number) => `${number(count)} more`,
  shortened: (start: string, count: number) =>
    `${start}… (${counted(count, 'more character', 'more characters')})`,
  emptyText: '""',
  defaultOfFlag: plain('the default variation of the flag'),
  none: plain('none'),
  segmentRule: { AND: 'and' as const, OR: 'or' as const, NOT: 'or' as const },
  segmentNone: (conditions: Sentence) => phrase`none of these: ${conditions}`,
}

const changes = {
  switchedOn: plain('Switched on'),
  switchedOff: plain('Switched off'),
  defaultVariation: (before: Sentence, after: Sentence) =>
    phrase`Default variation: ${from(before, after)}`,
  offVariation: (before: Sentence, after: Sentence) =>
    phrase`Off variation: ${from(before, after)}`,
  targetsAdded: (kind: string, keys: Sentence, variation: Fragment) =>
    phrase`Targets added: ${kind} ${keys} → ${variation}`,
  targetsRemoved: (kind: string, keys: Sentence, variation: Fragment) =>
    phrase`Targets removed: ${kind} ${keys} → ${variation}`,
  targetOrder: plain('Order of the targets changed'),
  prerequisiteAdded: (words: Sentence) => phrase`Prerequisite added: ${words}`,
  prerequisiteRemoved: (words: Sentence) => phrase`Prerequisite removed: ${words}`,
  prerequisiteChanged: (flag: Fragment, before: Sentence, after: Sentence) =>
    phrase`Prerequisite ${flag}: ${from(before, after)}`,
  prerequisiteOrder: plain('Order of the prerequisites changed'),
  ruleAdded: (rule: Sentence, index: number, words: Sentence) =>
    phrase`Rule ${rule} added at position ${ordinal(index)}: ${words}`,
  ruleRemoved: (rule: Sentence, words: Sentence) => phrase`Rule ${rule} removed: ${words}`,
  ruleMoved: (rule: Sentence, before: number, after: number) =>
    phrase`Rule ${rule} moved from ${ordinal(before)} to ${ordinal(after)}`,
  ruleOf: (rule: Sentence, change: Sentence) => phrase`Rule ${rule}: ${change}`,
  renamed: (before: Sentence, after: Sentence) => phrase`renamed ${from(before, after)}`,
  segment: (before: Sentence, after: Sentence) => phrase`segment ${from(before, after)}`,
  kind: (before: string, after: string) => phrase`kind ${before} → ${after}`,
  conditionAdded: (words: Sentence) => phrase`condition added: ${words}`,
  conditionRemoved: (words: Sentence) => phrase`condition removed: ${words}`,
  conditionChanged: (before: Sentence, after: Sentence) =>
    phrase`condition changed: ${from(before, after)}`,
  conditionOrder: plain('order of the conditions changed'),
  serves: (before: Sentence, after: Sentence) => phrase`serves ${from(before, after)}`,
  rolloutOf: (rollout: Sentence, change: Sentence) => phrase`Rollout ${rollout}: ${change}`,
  rolloutAdded: (rollout: Sentence, words: Sentence) => phrase`Rollout ${rollout} added: ${words}`,
  rolloutRemoved: (rollout: Sentence) => phrase`Rollout ${rollout} removed`,
  share: (change: { readonly before: string; readonly after: string }, variation: Sentence) =>
    phrase`${change.before} → ${change.after} of ${variation}`,
  by: (change: Sentence, attribute: Fragment) => phrase`${change}, by ${attribute}`,
  moving: (change: Sentence, moves: Sentence) => phrase`${change} (${moves})`,
  shares: (before: Sentence, after: Sentence) => phrase`${from(before, after)}`,
  bucketBy: (before: Sentence, after: Sentence) => phrase`attribute ${from(before, after)}`,
  salt: (before: Sentence, after: Sentence) => phrase`salt ${from(before, after)}`,
  scheme: (before: Sentence, after: Sentence) => phrase`scheme ${from(before, after)}`,
  order: (before: Sentence, after: Sentence) => phrase`order ${from(before, after)}`,
  rolloutOrder: plain('Order of the rollouts changed'),
  count: (count: number) => counted(count, 'change', 'changes'),
}

const dangers = {
  'switched-on': 'This switches the flag on in production.',
  'switched-off': 'This switches the flag off in production.',
  'targets-removed': 'This removes individual targets.',
  reassigned: 'Everyone is reassigned.',
  'moves-most': 'This changes the variation of more than 50 %.',
} as const

const moves = {
  unchanged: plain('No one gets another variation.'),
  reassigned: (moved: number) =>
    phrase`Everyone is reassigned; about ${percent(moved)} get another variation.`,
  gains: (share: number, variation: Sentence) => phrase`another ${percent(share)} get ${variation}`,
  loses: (share: number, variation: Sentence) => phrase`${percent(share)} lose ${variation}`,
  unknown: plain('The shares stay the same, but contexts can get another variation.'),
  noOneLoses: plain('no one loses it'),
  noOneLosesAny: plain('no one loses a variation'),
  all: (parts: readonly Sentence[]) =>
    parts.reduce((joined, part, index) => (index === 0 ? part : phrase`${joined}; ${part}`), []),
  atLeast: (words: Sentence) => phrase`At least: ${words}`,
}

const warnings = {
  unreachableAfterAll: (rule: Sentence, earlier: Sentence) =>
    phrase`Rule ${rule} cannot be reached: rule ${earlier} serves everyone.`,
  unreachableAfterSame: (rule: Sentence, earlier: Sentence) =>
    phrase`Rule ${rule} cannot be reached: rule ${earlier} has the same conditions.`,
  servesNothing: (rule: Sentence) => phrase`Rule ${rule} serves nothing.`,
  weightsBelow: (rollout: Sentence, total: number) =>
    phrase`The weights of rollout ${rollout} are ${percent(total)} in total. For the others, the next rule is tried.`,
  movesMost: (rollout: Sentence, moved: number) =>
    phrase`Rollout ${rollout} changes the variation of ${percent(moved)}.`,
  reassigned: (rollout: Sentence) => phrase`Everyone in rollout ${rollout} is reassigned.`,
  newAttributes: (attributes: Sentence) =>
    phrase`No published rule reads ${attributes}. Observed contexts may lack it.`,
  dependents: (flags: Sentence) => phrase`Other flags depend on this flag: ${flags}.`,
}

const conflicts = {
  isActive: plain('Switch'),
  defaultVariation: plain('Default variation'),
  offVariation: plain('Off variation'),
  target: (kind: string, key: Sentence) => phrase`Target ${kind} ${key}`,
  prerequisite: (flag: Fragment) => phrase`Prerequisite ${flag}`,
  rule: (rule: Sentence) => phrase`Rule ${rule}`,
  ruleName: (rule: Sentence) => phrase`Name of rule ${rule}`,
  ruleConditions: (rule: Sentence) => phrase`Conditions of rule ${rule}`,
  ruleSegment: (rule: Sentence) => phrase`Segment of rule ${rule}`,
  ruleServes: (rule: Sentence) => phrase`What rule ${rule} serves`,
  rollout: (rollout: Sentence) => phrase`Rollout ${rollout}`,
  rolloutName: (rollout: Sentence) => phrase`Name of rollout ${rollout}`,
  rolloutBucketing: (rollout: Sentence) => phrase`Bucketing of rollout ${rollout}`,
  rolloutShares: (rollout: Sentence) => phrase`Shares of rollout ${rollout}`,
  on: plain('on'),
  off: plain('off'),
  removed: plain('removed'),
  noConditions: plain('no conditions'),
  bucketing: (attribute: Fragment, salt: Sentence, scheme: string) =>
    phrase`by ${attribute}, salt ${salt}, scheme ${scheme}`,
}

const issues = {
  required: 'is required',
  weightsAbove: 'must be 100 % or less in total',
  segmentRequired: 'must be a segment',
  twice: 'must not be listed twice',
  keyTwice: 'contains a key listed before',
  unknownRollout: 'must be the id of a rollout in rollouts',
  dotInSalt: 'must not contain a dot',
}

/** The texts of drafts: rules in words, differences, conflicts and warnings. */
export const draft = {
  number,
  percent,
  list,
  sentences,
  changes,
  dangers,
  moves,
  warnings,
  conflicts,
  issues,
} as const
