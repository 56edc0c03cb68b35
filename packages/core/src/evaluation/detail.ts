import type { FlagValue } from '../model/value.ts'

/** All reasons. An outcome code contains the index of its reason. */
export const REASONS = [
  'TARGETING_MATCH',
  'SPLIT',
  'STATIC',
  'DEFAULT',
  'DISABLED',
  'ERROR',
] as const

/** The reason why a flag serves its value. */
export type EvaluationReason = (typeof REASONS)[number]

/** The error of an evaluation. */
export type EvaluationErrorCode =
  | 'FLAG_NOT_FOUND'
  | 'MALFORMED_FLAG'
  | 'TYPE_MISMATCH'
  | 'TARGETING_KEY_MISSING'

/** The result of the evaluation of a flag, with its explanation. */
export interface EvaluationDetail extends Explanation {
  readonly flagKey: string
  /** The served value. `null` if no variation can be served (reason `ERROR`). */
  readonly value: FlagValue
  readonly variationId: string | null
  readonly variationKey: string | null
}

/** The explanation of a result. Fields that do not apply are absent. */
export interface Explanation {
  readonly reason: EvaluationReason
  /** The id of the targeting rule that matched, also if the rule is broken. */
  readonly ruleId?: string
  /** The id of the segment that the rule requires. */
  readonly segmentId?: string
  /** The id of the rollout that the rule serves. */
  readonly rolloutId?: string
  /** The bucket of the context in the rollout, an integer in 0…99,999. */
  readonly bucket?: number
  /** The range that contains the bucket: `from <= bucket < to`. */
  readonly range?: { readonly from: number; readonly to: number }
  /** The key of the prerequisite flag that was not met. */
  readonly prerequisiteKey?: string
  /**
   * The error if the reason is `ERROR`. With another reason, `TARGETING_KEY_MISSING` means that a
   * rollout was skipped because the context has no bucketing key.
   */
  readonly errorCode?: EvaluationErrorCode
}
