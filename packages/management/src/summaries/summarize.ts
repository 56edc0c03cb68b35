import type { BucketRange, FlagDefinition, RolloutDefinition, RuleDefinition } from '@ff/core'
import { rangesAt } from '@ff/core/authoring'
import type { Records, StoredFlagSummary, SummarizedConfiguration } from '@ff/storage'

/** The number of buckets in one percent. */
const PERCENT = 1000

/** The shapes of a configuration by the strategy of the first rollout that a rule serves. */
const SHAPES = { percentage: 'rollout', variant: 'experiment', gradual: 'gradual' } as const

/** The shapes that are also marks. */
const MARKED_SHAPES: ReadonlySet<string> = new Set(Object.values(SHAPES))

/** Returns the summary of a flag's definition in one environment. */
export function summarizedConfiguration(definition: FlagDefinition): SummarizedConfiguration {
  const { isActive, offVariationId, rules, targets, prerequisites } = definition
  const [rollout] = servedRollouts(definition)
  const isGradual = rollout?.strategy === 'gradual'
  return {
    isActive,
    shape: shapeOf(definition, rollout),
    defaultVariationId: defaultOf(definition),
    offVariationId,
    ruleCount: rules.length,
    ...servedByRules(definition),
    targetCount: targets.reduce((total, { keys }) => total + keys.length, 0),
    prerequisiteCount: prerequisites.length,
    // The ranges of other rollouts do not depend on the time.
    split: rollout === undefined || isGradual ? null : splitOf(rangesAt(rollout, 0)),
    splitIsConditional: rules.some((rule) => rule.rolloutId === rollout?.id && isConditional(rule)),
    gradualRollout: isGradual ? rollout : null,
  }
}

function defaultOf({ defaultVariationId }: FlagDefinition): string | null {
  return defaultVariationId === '' ? null : defaultVariationId
}

/** Returns what the rules serve without rollouts, up to the rule that serves every context. */
function servedByRules(definition: FlagDefinition) {
  const { rules } = definition
  const isLast = (rule: RuleDefinition) => !isConditional(rule) && servesVariation(rule)
  const end = rules.findIndex(isLast)
  const conditional = rules.slice(0, end < 0 ? rules.length : end).filter(isConditional)
  const variations = conditional.filter(servesVariation).flatMap((rule) => rule.variationId ?? [])
  return {
    conditionalRuleCount: conditional.length,
    ruleVariationIds: [...new Set(variations)],
    othersVariationId: rules[end]?.variationId ?? defaultOf(definition),
  }
}

function isConditional({ conditions, segmentId }: RuleDefinition): boolean {
  return conditions.length > 0 || segmentId !== null
}

function servesVariation({ variationId, rolloutId }: RuleDefinition): boolean {
  return variationId !== null && rolloutId === null
}

function shapeOf(
  { isActive, rules, targets, prerequisites }: FlagDefinition,
  rollout: RolloutDefinition | undefined,
): SummarizedConfiguration['shape'] {
  if (!isActive) return 'off'
  if (rollout !== undefined) return SHAPES[rollout.strategy]
  return rules.length + targets.length + prerequisites.length > 0 ? 'rules' : 'everybody'
}

/** Returns the rollouts that rules serve, in the order of the rules. */
function servedRollouts({ rules, rollouts }: FlagDefinition): readonly RolloutDefinition[] {
  const byId = new Map(rollouts.map((rollout) => [rollout.id, rollout]))
  return rules.flatMap(({ rolloutId }) => (rolloutId && byId.get(rolloutId)) || [])
}

/** Returns the percentage of each variation, in the order of the ranges. */
export function splitOf(
  ranges: readonly BucketRange[],
): { readonly variationId: string; readonly percent: number }[] {
  const buckets = new Map<string, number>()
  for (const { variationId, from, to } of ranges) {
    buckets.set(variationId, (buckets.get(variationId) ?? 0) + to - from)
  }
  return [...buckets].map(([variationId, count]) => ({ variationId, percent: count / PERCENT }))
}

/**
 * Returns the content of a configuration as texts, by which environments are compared: what is
 * served to which contexts. The content does not contain ids of rules and rollouts, numbers that
 * only order the rules, and the assignment of buckets (salts, ranges), which can differ between
 * rollouts with the same percentages. The caller can pause the work at each `yield`.
 */
export function* contentOf(definition: FlagDefinition): Generator<undefined, string[]> {
  const { isActive, defaultVariationId, offVariationId, targets, prerequisites } = definition
  const state = [isActive, defaultVariationId, offVariationId, targets, prerequisites]
  const texts = [JSON.stringify(state)]
  const rollouts = new Map(definition.rollouts.map((rollout) => [rollout.id, rollout]))
  for (const { conditions, segmentId, variationId, rolloutId } of definition.rules) {
    const rollout = rolloutId === null ? undefined : rollouts.get(rolloutId)
    const split = rollout && rolloutContent(rollout)
    texts.push(JSON.stringify([conditions, segmentId, variationId, split ?? null]))
    yield
  }
  return texts
}

function rolloutContent(rollout: RolloutDefinition): readonly unknown[] {
  const { bucketBy, scheme, strategy } = rollout
  if (strategy !== 'gradual') {
    const split = splitOf(rangesAt(rollout, 0)).sort((a, b) =>
      a.variationId < b.variationId ? -1 : 1,
    )
    return [bucketBy, scheme, strategy, split]
  }
  const { variationId, targetPercentage, increment, intervalHours, startAt } = rollout
  const schedule = [variationId, targetPercentage, increment, intervalHours, startAt]
  return [bucketBy, scheme, strategy, schedule]
}

/** Returns `true` if the configuration of a flag differs between environments. */
export function differs({ environments }: StoredFlagSummary): boolean {
  return new Set(environments.map(({ contentHash }) => contentHash)).size > 1
}

/**
 * Returns the marks of a summary. `on`, `off`, `rollout`, `experiment`, `gradual` and `scheduled`
 * exist for any environment, and with the id of an environment, as `on:<id>`. `differs` and
 * `archived` concern the flag.
 */
export function marksOf(
  { archivedAt }: Pick<Records['flag'], 'archivedAt'>,
  summary: StoredFlagSummary,
): readonly string[] {
  const marks = new Set<string>()
  if (archivedAt !== null) marks.add('archived')
  if (differs(summary)) marks.add('differs')
  for (const { environmentId, isActive, shape, pendingChanges } of summary.environments) {
    const here = [isActive ? 'on' : 'off']
    if (MARKED_SHAPES.has(shape)) here.push(shape)
    if (pendingChanges > 0) here.push('scheduled')
    for (const mark of here) marks.add(mark).add(`${mark}:${environmentId}`)
  }
  return [...marks]
}
