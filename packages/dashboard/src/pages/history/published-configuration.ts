import type { DataOf } from '../../api/api-request.ts'
import type { Configuration, Rollout, Rule } from '../../draft/configuration.ts'
import { messages } from '../../messages/messages.ts'

const { changes: words } = messages.history

/** A flag as it was published. */
export type PublishedFlag = DataOf<'getVersion'>['flags'][number]
type PublishedRollout = PublishedFlag['rollouts'][number]

/** A published flag has no names of rules, so rules are named by their position. */
interface RuleNames {
  readonly rules: ReadonlyMap<string, string>
  readonly rollouts: ReadonlyMap<string, string>
}

/** Returns the configurations of a flag in two versions, with equal names for equal rules. */
export function configurationsOf(before: PublishedFlag, after: PublishedFlag) {
  const names = namesOf([after, before])
  return { before: configurationOf(before, names), after: configurationOf(after, names) }
}

/** Returns the names of rules and rollouts. Those of the first flag have precedence. */
function namesOf(flags: readonly PublishedFlag[]): RuleNames {
  const rules = new Map<string, string>()
  const rollouts = new Map<string, string>()
  for (const flag of flags) {
    for (const [index, { id, rolloutId }] of inOrder(flag).entries()) {
      if (!rules.has(id)) rules.set(id, words.ruleName(index))
      if (rolloutId !== null && !rollouts.has(rolloutId))
        rollouts.set(rolloutId, words.rolloutName(index))
    }
  }
  return { rules, rollouts }
}

function inOrder({ rules }: PublishedFlag) {
  return [...rules].sort(
    (left, right) =>
      left.orderIndex - right.orderIndex || (left.createdAt < right.createdAt ? -1 : 1),
  )
}

function configurationOf(flag: PublishedFlag, names: RuleNames): Configuration {
  const { isActive, defaultVariationId, offVariationId } = flag
  return {
    state: {
      isActive,
      defaultVariationId,
      offVariationId,
      targets: flag.targets.map(({ keys, ...target }) => ({ ...target, keys: [...keys] })),
      prerequisites: flag.prerequisites.map(({ flagId, variationIds }) => {
        return { flagId, variationIds: [...variationIds] }
      }),
    },
    targetingRules: inOrder(flag).map(
      ({ id, conditions, segmentId, variationId, rolloutId }): Rule => ({
        id,
        name: names.rules.get(id) ?? id,
        kind: segmentId === null ? 'custom' : 'segment',
        conditions: [...conditions],
        segmentId,
        variationId,
        rolloutId,
      }),
    ),
    rollouts: flag.rollouts.map((rollout) =>
      rolloutOf(rollout, names.rollouts.get(rollout.id) ?? words.unusedRollout),
    ),
    revision: 0,
  }
}

const NO_SETTINGS = {
  variationId: null,
  percentage: null,
  variants: null,
  targetPercentage: null,
  increment: null,
  intervalHours: null,
  startAt: null,
}

function rolloutOf(rollout: PublishedRollout, name: string): Rollout {
  const { id, bucketBy, salt, scheme, strategy } = rollout
  const basis = { ...NO_SETTINGS, id, name, strategy, bucketBy, salt, scheme }
  if (rollout.strategy === 'gradual') {
    const { variationId, targetPercentage, increment, intervalHours, startAt } = rollout
    return { ...basis, variationId, targetPercentage, increment, intervalHours, startAt }
  }
  const shares = sharesOf(rollout.ranges)
  if (strategy === 'variant') {
    return {
      ...basis,
      variants: [...shares].map(([variationId, weight]) => ({ variationId, weight })),
    }
  }
  const [share] = shares
  return { ...basis, variationId: share?.[0] ?? null, percentage: share?.[1] ?? 0 }
}

/** The number of buckets of 1 %. */
const BUCKETS_OF_PERCENT = 1000

type RangeRollout = Exclude<PublishedRollout, { readonly strategy: 'gradual' }>

/** Returns the percentage of each variation. */
function sharesOf(ranges: RangeRollout['ranges']): ReadonlyMap<string, number> {
  const buckets = new Map<string, number>()
  for (const { variationId, from, to } of ranges) {
    buckets.set(variationId, (buckets.get(variationId) ?? 0) + to - from)
  }
  return new Map([...buckets].map(([id, count]) => [id, count / BUCKETS_OF_PERCENT]))
}
