import type { EvaluationDetail } from '../evaluation/detail.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import { quote, textOf } from '../model/quote.ts'

/** What a flag evaluated to, and everything that was looked at on the way. */
export interface FlagExplanation {
  /** The same as `evaluateFlag` answers. */
  readonly detail: EvaluationDetail
  /**
   * The keys of the flags because of which a prerequisite is not met: the flag's own, then that
   * flag's, and so on. Empty when none is unmet.
   */
  readonly prerequisiteChain: readonly string[]
  /** The references, by code point, of the attributes that the answer depends on. */
  readonly attributesRead: readonly string[]
  /** In the order in which they were taken; the last one says what is served. */
  readonly steps: readonly ExplanationStep[]
}

/** One thing that was looked at. Fields that do not apply are absent. */
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
  /** `skipped`: a rule that matches, or a rollout, but has nothing to serve to this context. */
  readonly outcome: 'held' | 'not_held' | 'skipped'
  /** A sentence for people. */
  readonly text: string
  /** The other flag, of a prerequisite or a condition. */
  readonly flagKey?: string
  /** What that flag, or in the end this one, serves; null: nothing. */
  readonly variationKey?: string | null
  readonly ruleId?: string
  readonly segmentId?: string
  readonly rolloutId?: string
  /** The attribute reference of a condition, and of a rollout's key. */
  readonly attribute?: string
  readonly operator?: string
  /** What the condition compares with, shortened. */
  readonly value?: string
  /** What the context has there, as JSON text, shortened; null: it is missing. */
  readonly found?: string | null
  /** 0…99 999. */
  readonly bucket?: number
  readonly range?: { readonly from: number; readonly to: number }
  /** The conditions of a rule or a segment, the segment and the rollout of a rule. */
  readonly steps?: readonly ExplanationStep[]
}

/** Taken instead of all others when nothing has the key. */
export const UNKNOWN_FLAG: ExplanationStep = {
  type: 'flag',
  outcome: 'not_held',
  text: 'There is no such flag.',
}

/** The last step of every log. */
export function answerStep({ variationKey, reason, errorCode }: EvaluationDetail): ExplanationStep {
  const what = variationKey === null ? 'nothing, so the value is null' : quote(variationKey)
  const why = errorCode === undefined ? reason : `${reason}, ${errorCode}`
  return { type: 'answer', outcome: 'held', variationKey, text: `Serves ${what} (${why}).` }
}

/** Why targets and rules are not looked at. */
export const EMPTY_CONTEXT: ExplanationStep = {
  type: 'context',
  outcome: 'not_held',
  text: 'The context is empty, so that no target and no rule matches it.',
}

/** Whether the flag itself lets anything be looked at. */
export function flagStep(outcome: ExplanationStep['outcome'], text: string): ExplanationStep {
  return { type: 'flag', outcome, text }
}

/** The outcome of what either holds or does not. */
export function stepOutcome(isHeld: boolean): 'held' | 'not_held' {
  return isHeld ? 'held' : 'not_held'
}

/** What people call a variation; its id when the flag does not have it. */
export function variationKeyOf({ variations }: CompiledFlag, id: string): string {
  return variations.find((variation) => variation.id === id)?.key ?? textOf(id)
}
