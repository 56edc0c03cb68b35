import {
  type ConditionDefinition,
  compareCodePoints,
  type FlagDefinition,
  type RolloutDefinition,
  type RuleDefinition,
} from '@ff/core'
import type { Condition, Flag, Rollout } from '@ff/protocol/management'
import type { PublishedSegment } from '../ports/publications.ts'
import type { Records } from '../ports/records.ts'

/** The living records from which the definition of a flag in one environment is built. */
export interface FlagRecords {
  readonly flag: Flag
  readonly state: Records['flagState']
  readonly variations: readonly Records['variation'][]
  readonly rules: readonly Records['targetingRule'][]
  readonly rollouts: readonly Records['rollout'][]
}

/**
 * Returns the definition that is published for a flag in an environment. Equal records result in
 * equal JSON text, independent of their order. An archived flag is published as `null` instead.
 */
export function toFlagDefinition(records: FlagRecords): FlagDefinition {
  const { flag, state } = records
  const variations = [...records.variations].sort(byOrder)
  const fallback = variations.find((variation) => variation.isDefault) ?? variations[0]
  return {
    id: flag.id,
    key: flag.key,
    type: flag.type,
    isActive: state.isActive,
    // Omitted for visible flags, so that their text equals the text of definitions without the field.
    ...(!flag.clientVisible && { clientVisible: false }),
    variations: variations.map(({ id, key, value }) => ({ id, key, value })),
    defaultVariationId: state.defaultVariationId ?? fallback?.id ?? '',
    offVariationId: state.offVariationId,
    targets: state.targets.map(({ variationId, kind, keys }) => ({ variationId, kind, keys })),
    prerequisites: state.prerequisites.map(({ flagId, variationIds }) => ({
      flagId,
      variationIds,
    })),
    rules: [...records.rules].sort(byOrderAndAge).map(toRuleDefinition),
    rollouts: [...records.rollouts].sort(byId).map(toRolloutDefinition),
  }
}

/** Returns the definition that is published for a segment, without its listed keys. */
export function toPublishedSegment(segment: Records['segment']): PublishedSegment {
  const { id, key, logicalOp, force, keyAttribute } = segment
  const rules = segment.rules.map(toConditionDefinition)
  return { id, key, rules, logicalOp, force, keyAttribute }
}

function toRuleDefinition(rule: Records['targetingRule']): RuleDefinition {
  const { id, orderIndex, createdAt, segmentId, variationId, rolloutId } = rule
  const conditions = rule.conditions.map(toConditionDefinition)
  return { id, orderIndex, createdAt, conditions, segmentId, variationId, rolloutId }
}

function toConditionDefinition(condition: Condition): ConditionDefinition {
  const { attribute, operator, value } = condition
  return condition.negate === true
    ? { attribute, operator, value, negate: true }
    : { attribute, operator, value }
}

/** Returns the definition that is published for a rollout as part of its flag. */
export function toRolloutDefinition(rollout: Rollout): RolloutDefinition {
  const { id, bucketBy, salt, scheme } = rollout
  const basis = { id, bucketBy, salt, scheme }
  if (rollout.strategy !== 'gradual') {
    const ranges = rollout.ranges.map(({ variationId, from, to }) => ({ variationId, from, to }))
    return { ...basis, strategy: rollout.strategy, ranges }
  }
  return {
    ...basis,
    strategy: 'gradual',
    variationId: rollout.variationId ?? '',
    targetPercentage: rollout.targetPercentage ?? 0,
    increment: rollout.increment ?? 0,
    intervalHours: rollout.intervalHours ?? 0,
    startAt: rollout.startAt ?? '',
  }
}

interface Identified {
  readonly id: string
}

function byId(a: Identified, b: Identified): number {
  return compareCodePoints(a.id, b.id)
}

function byOrder(a: Records['variation'], b: Records['variation']): number {
  return a.orderIndex - b.orderIndex || byId(a, b)
}

function byOrderAndAge(a: Records['targetingRule'], b: Records['targetingRule']): number {
  return a.orderIndex - b.orderIndex || compareCodePoints(a.createdAt, b.createdAt) || byId(a, b)
}
