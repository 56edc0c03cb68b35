import type { FlagValue } from '../model/value.ts'

/** Every reason; its position is a part of the codes of outcomes. */
export const REASONS = [
  'TARGETING_MATCH',
  'SPLIT',
  'STATIC',
  'DEFAULT',
  'DISABLED',
  'ERROR',
] as const

export type EvaluationReason = (typeof REASONS)[number]

export type EvaluationErrorCode =
  | 'FLAG_NOT_FOUND'
  | 'MALFORMED_FLAG'
  | 'TYPE_MISMATCH'
  | 'TARGETING_KEY_MISSING'

/** What a flag evaluated to, and why. */
export interface EvaluationDetail extends Explanation {
  readonly flagKey: string
  /** null when there is nothing to serve (`ERROR`). */
  readonly value: FlagValue
  readonly variationId: string | null
  readonly variationKey: string | null
}

/** Why an answer is what it is. Fields that do not apply are absent. */
export interface Explanation {
  readonly reason: EvaluationReason
  /** The targeting rule that served, or failed to. */
  readonly ruleId?: string
  /** The segment of that rule. */
  readonly segmentId?: string
  readonly rolloutId?: string
  /** 0…99 999. */
  readonly bucket?: number
  readonly range?: { readonly from: number; readonly to: number }
  /** The key of the flag whose prerequisite was not met. */
  readonly prerequisiteKey?: string
  /** With reason `ERROR`: what is wrong; else a rollout that was skipped for want of a key. */
  readonly errorCode?: EvaluationErrorCode
}
