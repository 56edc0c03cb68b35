import type { EvaluationDetail } from '../evaluation/detail.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import { quote, textOf } from '../model/quote.ts'

/** The result of the evaluation of a flag, with all steps of the evaluation. */
export interface FlagExplanation {
  /** The detail that `evaluateFlag` returns. */
  readonly detail: EvaluationDetail
  /**
   * The chain of unmet prerequisites: the key of the flag's unmet prerequisite, then that of the
   * prerequisite's own unmet prerequisite, and so on. Empty if all prerequisites are met.
   */
  readonly prerequisiteChain: readonly string[]
  /** The references of the attributes that the result depends on, sorted by code point. */
  readonly attributesRead: readonly string[]
  /** The steps in the order of the evaluation. The last step names the served variation. */
  readonly steps: readonly ExplanationStep[]
}

/** A step of the evaluation of a flag. Fields that do not apply are absent. */
export interface ExplanationStep {
  readonly type:
    | 'flag'
    | 'prerequisite'
    | 'context'
    | 'target'
    | 'rule'
    | 'condition'
    | 'segment'
    | 'rollout'
    | 'answer'
  /** The result. `skipped` means that a rollout or a matching rule has no variation to serve. */
  readonly outcome: 'held' | 'not_held' | 'skipped'
  /** A description for users. */
  readonly text: string
  /** The key of the flag that a prerequisite or a condition refers to. */
  readonly flagKey?: string
  /**
   * The key of the variation that the prerequisite flag, the flag of the condition, the rollout or,
   * in the last step, the explained flag serves. `null` if none is served.
   */
  readonly variationKey?: string | null
  readonly ruleId?: string
  readonly segmentId?: string
  readonly rolloutId?: string
  /** The attribute reference of a condition or of the bucketing key of a rollout. */
  readonly attribute?: string
  readonly operator?: string
  /** The value of the condition, shortened to 200 UTF-16 units. */
  readonly value?: string
  /**
   * The value of the attribute or bucketing key, as shortened JSON text. `null` if it is missing.
   */
  readonly found?: string | null
  /**
   * `true` if the value of the attribute is or contains an integer of 2^53 or more in magnitude, which
   * is not exact, so that no condition on equality matches it.
   */
  readonly isInexact?: true
  /** The bucket of the context, an integer in 0…99,999. */
  readonly bucket?: number
  /** The range that contains the bucket: `from <= bucket < to`. */
  readonly range?: { readonly from: number; readonly to: number }
  /** The conditions of a rule or a segment, and the segment and the rollout of a rule. */
  readonly steps?: readonly ExplanationStep[]
}

/** The step that replaces all steps except the last one if the flag is unknown. */
export const UNKNOWN_FLAG: ExplanationStep = {
  type: 'flag',
  outcome: 'not_held',
  text: 'There is no such flag.',
}

/** Returns the last step of an explanation, which names the served variation. */
export function answerStep({ variationKey, reason, errorCode }: EvaluationDetail): ExplanationStep {
  const what = variationKey === null ? 'nothing, so the value is null' : quote(variationKey)
  const why = errorCode === undefined ? reason : `${reason}, ${errorCode}`
  return { type: 'answer', outcome: 'held', variationKey, text: `Serves ${what} (${why}).` }
}

/** The step that replaces targets and rules if the context is empty. */
export const EMPTY_CONTEXT: ExplanationStep = {
  type: 'context',
  outcome: 'not_held',
  text: 'The context is empty, so no target and no rule matches.',
}

/** Returns the step that describes the state of the flag. */
export function flagStep(outcome: ExplanationStep['outcome'], text: string): ExplanationStep {
  return { type: 'flag', outcome, text }
}

/** Returns the outcome of a step that either matches or does not. */
export function stepOutcome(isHeld: boolean): 'held' | 'not_held' {
  return isHeld ? 'held' : 'not_held'
}

/** Returns the key of a variation, or its id if the flag does not have the variation. */
export function variationKeyOf({ variations }: CompiledFlag, id: string): string {
  return variations.find((variation) => variation.id === id)?.key ?? textOf(id)
}
