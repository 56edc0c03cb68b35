import type { FlagValueType } from './value.ts'

/**
 * The plain data an environment is made of, as it is published, stored and sent to SDKs.
 * Everything here is JSON; nothing is checked until `compileFlagSet` reads it.
 */
export interface FlagSetDefinition {
  /** Grows by one with every published change of the environment; 0 before the first. */
  readonly version: number
  /**
   * The last version that could change an answer to an SDK key of kind `client`. Absent if that is
   * `version` itself.
   */
  readonly clientVersion?: number
  readonly flags: readonly FlagDefinition[]
  readonly segments: readonly SegmentDefinition[]
}

export interface FlagDefinition {
  readonly id: string
  readonly key: string
  readonly type: FlagValueType
  readonly isActive: boolean
  /** Whether SDK keys of kind `client` receive the flag. Absent means `true`. */
  readonly clientVisible?: boolean
  readonly variations: readonly VariationDefinition[]
  readonly defaultVariationId: string
  /** Served while the flag is inactive or a prerequisite is not met; null: the default. */
  readonly offVariationId: string | null
  readonly targets: readonly TargetDefinition[]
  readonly prerequisites: readonly PrerequisiteDefinition[]
  readonly rules: readonly RuleDefinition[]
  /** What the rules may refer to by `rolloutId`. */
  readonly rollouts: readonly RolloutDefinition[]
}

export interface VariationDefinition {
  readonly id: string
  readonly key: string
  /** Text that `parseFlagValue` reads by the flag's type. */
  readonly value: string
}

/** Contexts of `kind` whose key is listed get the variation. */
export interface TargetDefinition {
  readonly variationId: string
  readonly kind: string
  readonly keys: readonly string[]
}

/** Met when the other flag serves one of these variations to the same context. */
export interface PrerequisiteDefinition {
  readonly flagId: string
  readonly variationIds: readonly string[]
}

/** Applies when all conditions hold and its segment, if any, matches. */
export interface RuleDefinition {
  readonly id: string
  readonly orderIndex: number
  readonly createdAt: string
  readonly conditions: readonly ConditionDefinition[]
  readonly segmentId: string | null
  readonly variationId: string | null
  /** Wins over `variationId` when both are given. */
  readonly rolloutId: string | null
}

export interface ConditionDefinition {
  /** An attribute reference; a flag key for `flag_is` and `flag_is_not`. */
  readonly attribute: string
  readonly operator: string
  /** Text; a list is the text of a JSON array. */
  readonly value: string
  /** The exact complement, a missing attribute included. */
  readonly negate?: boolean
}

export interface SegmentDefinition {
  readonly id: string
  readonly key: string
  readonly rules: readonly ConditionDefinition[]
  readonly logicalOp: SegmentLogicalOp
  /** Everybody but the empty context and the excluded keys. */
  readonly force: boolean
  /** The attribute that `included` and `excluded` list. */
  readonly keyAttribute: string
  readonly included: readonly string[]
  /** Wins over `included`, `rules` and `force`. */
  readonly excluded: readonly string[]
}

export type SegmentLogicalOp = 'AND' | 'OR' | 'NOT'

export type RolloutDefinition = RangeRolloutDefinition | GradualRolloutDefinition

interface RolloutBasis {
  readonly id: string
  /** An attribute reference, `user.key` by default. */
  readonly bucketBy: string
  readonly salt: string
  /** The name of the bucketing formula; `ff` is our own. */
  readonly scheme: string
}

/** Fixed shares: a context gets the variation whose range holds its bucket. */
export interface RangeRolloutDefinition extends RolloutBasis {
  readonly strategy: 'percentage' | 'variant'
  readonly ranges: readonly BucketRange[]
  /** What the weights add up to in the system that the rollout comes from, if its `scheme` asks. */
  readonly totalWeight?: number
}

/** Half-open, `from <= bucket < to`, in buckets 0…100 000. */
export interface BucketRange {
  readonly variationId: string
  readonly from: number
  readonly to: number
}

/** A share that grows with time, by `increment` percent every `intervalHours` up to the target. */
export interface GradualRolloutDefinition extends RolloutBasis {
  readonly strategy: 'gradual'
  readonly variationId: string
  readonly targetPercentage: number
  readonly increment: number
  readonly intervalHours: number
  /** ISO-8601 timestamp of the first step. */
  readonly startAt: string
}
