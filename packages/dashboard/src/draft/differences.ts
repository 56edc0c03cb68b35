import { draft } from '../messages/en/draft.ts'
import type { Sentence } from '../messages/phrases/fragment.ts'
import { type Configuration, type ConfigurationState, findById, isSame } from './configuration.ts'
import type { Danger, Difference, DifferenceOptions } from './difference.ts'
import { rolloutDifferences } from './rollout-differences.ts'
import { rulesDifferences } from './rule-differences.ts'
import {
  type Names,
  prerequisiteSentence,
  shown,
  shownList,
  variationSentence,
} from './sentence.ts'

const { changes, sentences } = draft

/**
 * Returns the changes between two configurations as sentences, in the order of the page. Equal
 * configurations have none; `revision` is not compared. The publish bar shows their number.
 */
export function configurationDifferences(
  before: Configuration,
  after: Configuration,
  options: DifferenceOptions,
): readonly Difference[] {
  return [
    ...stateDifferences(before.state, after.state, options),
    ...rulesDifferences(before, after, options),
    ...rolloutsDifferences(before, after, options),
  ]
}

function rolloutsDifferences(
  before: Configuration,
  after: Configuration,
  options: DifferenceOptions,
): readonly Difference[] {
  // The sentence about an added rule contains its rollout.
  const isOfAddedRule = (id: string) => {
    return after.targetingRules.some((rule) => {
      return rule.rolloutId === id && findById(before.targetingRules, rule.id) === undefined
    })
  }
  const isKnown = (id: string) => findById(before.rollouts, id) !== undefined
  const present = after.rollouts.filter(({ id }) => isKnown(id) || !isOfAddedRule(id))
  const all = [...before.rollouts, ...present.filter(({ id }) => !isKnown(id))]
  const found = all.flatMap(({ id }) => {
    return rolloutDifferences(findById(before.rollouts, id), findById(after.rollouts, id), options)
  })
  if (found.length > 0 || isSame(before.rollouts, present)) return found
  return [{ sentence: changes.rolloutOrder, field: { part: 'order' }, danger: null }]
}

function stateDifferences(
  before: ConfigurationState,
  after: ConfigurationState,
  options: DifferenceOptions,
): readonly Difference[] {
  return [
    ...switchDifferences(before, after, options),
    ...variationDifferences(before, after, options.names),
    ...targetDifferences(before, after, options.names),
    ...prerequisiteDifferences(before, after, options.names),
  ]
}

function switchDifferences(
  { isActive: was }: ConfigurationState,
  { isActive: is }: ConfigurationState,
  { isProduction }: DifferenceOptions,
): readonly Difference[] {
  if (was === is) return []
  const danger = is ? 'switched-on' : 'switched-off'
  const sentence = is ? changes.switchedOn : changes.switchedOff
  return [inState('isActive', sentence, isProduction ? danger : null)]
}

function variationDifferences(
  before: ConfigurationState,
  after: ConfigurationState,
  names: Names,
): readonly Difference[] {
  const found: Difference[] = []
  for (const field of ['defaultVariationId', 'offVariationId'] as const) {
    if (before[field] === after[field]) continue
    const isOff = field === 'offVariationId'
    const absent = isOff ? sentences.none : sentences.defaultOfFlag
    const words = (id: string | null) => (id === null ? absent : variationSentence(id, names))
    const change = isOff ? changes.offVariation : changes.defaultVariation
    found.push(inState(field, change(words(before[field]), words(after[field]))))
  }
  return found
}

function targetDifferences(
  { targets: before }: ConfigurationState,
  { targets: after }: ConfigurationState,
  names: Names,
): readonly Difference[] {
  const removed = missingKeys(before, after).map(({ kind, keys, variationId }) => {
    const variation = shown(names.variation(variationId), 'variation')
    const sentence = changes.targetsRemoved(kind, shownList(keys), variation)
    return inState('targets', sentence, 'targets-removed')
  })
  const added = missingKeys(after, before).map(({ kind, keys, variationId }) => {
    const variation = shown(names.variation(variationId), 'variation')
    return inState('targets', changes.targetsAdded(kind, shownList(keys), variation))
  })
  const found = [...removed, ...added]
  if (found.length > 0 || isSame(before, after)) return found
  return [inState('targets', changes.targetOrder)]
}

type Targets = ConfigurationState['targets']

/** Returns the targets of `all` with only those keys that `other` lacks. */
function missingKeys(all: Targets, other: Targets): Targets {
  const pair = (kind: string, variationId: string) => JSON.stringify([kind, variationId])
  const known = new Map<string, Set<string>>()
  for (const { kind, variationId, keys } of other) {
    const present = known.get(pair(kind, variationId)) ?? new Set()
    known.set(pair(kind, variationId), new Set([...present, ...keys]))
  }
  return all
    .map((target) => {
      const present = known.get(pair(target.kind, target.variationId))
      return { ...target, keys: target.keys.filter((key) => !present?.has(key)) }
    })
    .filter(({ keys }) => keys.length > 0)
}

function prerequisiteDifferences(
  { prerequisites: before }: ConfigurationState,
  { prerequisites: after }: ConfigurationState,
  names: Names,
): readonly Difference[] {
  const find = (all: typeof before, flagId: string) => all.find((each) => each.flagId === flagId)
  const removed = before
    .filter(({ flagId }) => !find(after, flagId))
    .map((each) => changes.prerequisiteRemoved(prerequisiteSentence(each, names)))
  const others = after.flatMap((each) => {
    const was = find(before, each.flagId)
    if (was === undefined) return [changes.prerequisiteAdded(prerequisiteSentence(each, names))]
    if (isSame(was, each)) return []
    const words = ({ flagId, variationIds }: typeof each) =>
      shownList(
        variationIds.map((id) => names.variation(id, flagId)),
        'variation',
        'or',
      )
    return [changes.prerequisiteChanged(shown(names.flag(each.flagId)), words(was), words(each))]
  })
  const found = [...removed, ...others]
  const all = found.length > 0 || isSame(before, after) ? found : [changes.prerequisiteOrder]
  return all.map((sentence) => inState('prerequisites', sentence))
}

function inState(
  field: keyof ConfigurationState,
  sentence: Sentence,
  danger: Danger | null = null,
): Difference {
  return { sentence, field: { part: 'state', field }, danger }
}
