import type { FlagValueType } from './value.ts'

/**
 * The definitions of an environment, as they are published, stored and sent to SDKs. A definition
 * is JSON. Its types are not enforced: `compileFlagSet` accepts invalid definitions.
 */
export interface FlagSetDefinition {
  /** The number of published changes of the environment. 0 before the first change. */
  readonly version: number
  /**
   * The last version in which a response to an SDK key of kind `client` can have changed. Absent if
   * it equals `version`.
   */
  readonly clientVersion?: number
  readonly flags: readonly FlagDefinition[]
  readonly segments: readonly SegmentDefinition[]
}

/** The definition of a flag in one environment. */
export interface FlagDefinition {
  readonly id: string
  readonly key: string
  readonly type: FlagValueType
  readonly isActive: boolean
  /** `true` if SDK keys of kind `client` receive the flag. Absent means `true`. */
  readonly clientVisible?: boolean
  readonly variations: readonly VariationDefinition[]
  readonly defaultVariationId: string
  /**
   * The variation that is served while the flag is inactive or a prerequisite is not met. `null`
   * means the default variation.
   */
  readonly offVariationId: string | null
  readonly targets: readonly TargetDefinition[]
  readonly prerequisites: readonly PrerequisiteDefinition[]
  readonly rules: readonly RuleDefinition[]
  /** The rollouts that rules can refer to by `rolloutId`. */
  readonly rollouts: readonly RolloutDefinition[]
}

/** One of the values that a flag can serve. */
export interface VariationDefinition {
  readonly id: string
  readonly key: string
  /** The value as text. `parseFlagValue` parses it by the type of the flag. */
  readonly value: string
}

/** A list of contexts of one kind that receive a variation. */
export interface TargetDefinition {
  readonly variationId: string
  readonly kind: string
  readonly keys: readonly string[]
}

/**
 * A prerequisite. It is met if the other flag serves one of these variations to the same context.
 */
export interface PrerequisiteDefinition {
  readonly flagId: string
  readonly variationIds: readonly string[]
}

/** A targeting rule. It matches if all conditions match and its segment, if it has one, matches. */
export interface RuleDefinition {
  readonly id: string
  readonly orderIndex: number
  readonly createdAt: string
  readonly conditions: readonly ConditionDefinition[]
  readonly segmentId: string | null
  readonly variationId: string | null
  /** The rollout that the rule serves. It takes precedence over `variationId` if both are set. */
  readonly rolloutId: string | null
}

/** A condition of a targeting rule or segment. */
export interface ConditionDefinition {
  /** An attribute reference, or a flag key for the operators `flag_is` and `flag_is_not`. */
  readonly attribute: string
  readonly operator: string
  /** The operand as text. A list is the text of a JSON array. */
  readonly value: string
  /** `true` inverts the result, also if the attribute is missing. */
  readonly negate?: boolean
}

/** A reusable group of contexts. */
export interface SegmentDefinition {
  readonly id: string
  readonly key: string
  readonly rules: readonly ConditionDefinition[]
  readonly logicalOp: SegmentLogicalOp
  /** `true` if the segment matches every context except the empty one and the excluded keys. */
  readonly force: boolean
  /** The attribute that is compared with the keys in `included` and `excluded`. */
  readonly keyAttribute: string
  readonly included: readonly string[]
  /** The excluded keys. They take precedence over `included`, `rules` and `force`. */
  readonly excluded: readonly string[]
}

/** The required result of the rules of a segment: all, at least one, or none of them must match. */
export type SegmentLogicalOp = 'AND' | 'OR' | 'NOT'

/** The distribution of contexts over variations by their buckets. */
export type RolloutDefinition = RangeRolloutDefinition | GradualRolloutDefinition

interface RolloutBasis {
  readonly id: string
  /** The reference of the attribute that is the bucketing key. */
  readonly bucketBy: string
  readonly salt: string
  /** The name of the bucketing formula. `ff` is the built-in one. */
  readonly scheme: string
}

/**
 * A rollout with fixed shares. The range that contains the bucket of a context selects the
 * variation.
 */
export interface RangeRolloutDefinition extends RolloutBasis {
  readonly strategy: 'percentage' | 'variant'
  readonly ranges: readonly BucketRange[]
  /**
   * The sum of the weights in the system that the rollout was imported from, if `scheme` uses the
   * sum.
   */
  readonly totalWeight?: number
}

/** The buckets of one variation: `from <= bucket < to`. Both bounds are integers in 0…100,000. */
export interface BucketRange {
  readonly variationId: string
  readonly from: number
  readonly to: number
}

/**
 * A rollout with a growing share. The share grows by `increment` percentage points every
 * `intervalHours` hours, up to `targetPercentage`.
 */
export interface GradualRolloutDefinition extends RolloutBasis {
  readonly strategy: 'gradual'
  readonly variationId: string
  readonly targetPercentage: number
  readonly increment: number
  readonly intervalHours: number
  /** The RFC 3339 timestamp of the first step. */
  readonly startAt: string
}
