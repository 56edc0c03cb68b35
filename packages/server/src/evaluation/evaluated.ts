import {
  type CompiledFlag,
  type EvaluationContext,
  type EvaluationDetail,
  evaluateFlag,
  type FlagSet,
  outcomeCodeOf,
} from '@ff/core'
import { type Evaluation, evaluateAll, evaluateSome, jsonOf } from '@ff/core/all-flags'
import { stepAt } from '@ff/core/changes'
import { valuesHash } from '@ff/core/fingerprint'
import type { EntityTag } from './entity-tag.ts'

/** An evaluation with its flag set and its context, for the usage recorder. */
export interface Evaluated {
  readonly flagSet: FlagSet
  readonly context: EvaluationContext
  readonly evaluation: Evaluation
  /** The duration of the evaluation in microseconds. */
  readonly micros: number
}

interface TimedInput {
  readonly flagSet: FlagSet
  readonly context: EvaluationContext
  /** Epoch milliseconds. */
  readonly now: number
  /** The flags to evaluate; all flags by default. Unknown keys are ignored. */
  readonly flagKeys?: Iterable<string>
}

/** Evaluates flags and measures the duration. */
export function evaluateTimed({ flagSet, context, now, flagKeys }: TimedInput): Evaluated {
  const startedAt = performance.now()
  const evaluation =
    flagKeys === undefined
      ? evaluateAll(flagSet, context, now)
      : evaluateSome(flagSet, flagKeys, context, now)
  return { flagSet, context, evaluation, micros: (performance.now() - startedAt) * 1000 }
}

/** Evaluates one flag with its detail and measures the duration. */
export function detailTimed(
  flag: CompiledFlag,
  { flagSet, context, now }: Omit<TimedInput, 'flagKeys'>,
): { readonly detail: EvaluationDetail; readonly evaluated: Evaluated } {
  const startedAt = performance.now()
  const detail = evaluateFlag(flagSet, flag.key, context, now)
  const micros = (performance.now() - startedAt) * 1000
  const codes = Int32Array.of(outcomeCodeOf(flag, detail))
  const evaluation = { flagSet, flags: [flag], context, now, codes, start: 0 }
  return { detail, evaluated: { flagSet, context, evaluation, micros } }
}

/** The values of all flags for one context, in the form in which they are sent. */
export interface EvaluationAnswer {
  readonly tag: EntityTag
  /**
   * A flat object of values by flag key, as JSON text; `null` if the caller already has these
   * values.
   */
  readonly json: string | null
  /** The evaluation that `json` was created from; absent if nothing was evaluated. */
  readonly evaluated?: Evaluated
}

interface AnswerInput {
  readonly contextHash: string
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Evaluates every flag for a context. Returns the values as JSON text, with their entity tag. The
 * evaluation is not counted: the caller passes the result to `UsageRecorder.answered`.
 */
export function evaluationAnswer(
  flagSet: FlagSet,
  { context, contextHash, now }: AnswerInput & { readonly context: EvaluationContext },
): EvaluationAnswer {
  const evaluated = evaluateTimed({ flagSet, context, now })
  const { evaluation } = evaluated
  const tag = {
    version: flagSet.version,
    step: stepAt(flagSet, now),
    contextHash,
    valuesHash: valuesHash(evaluation),
  }
  return { tag, json: jsonOf(evaluation), evaluated }
}

/**
 * Returns the tag of a request that matches the current version, step and context; `undefined` if
 * there is none. Only the hash of the context is needed.
 */
export function findCurrentTag(
  flagSet: FlagSet,
  { tags, contextHash, now }: AnswerInput & { readonly tags: readonly EntityTag[] },
): EntityTag | undefined {
  const { version } = flagSet
  const step = stepAt(flagSet, now)
  return tags.find(
    (tag) => tag.version === version && tag.step === step && tag.contextHash === contextHash,
  )
}
