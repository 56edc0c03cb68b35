import type { EvaluationContext, FlagSet } from '@ff/core'
import { type Evaluation, evaluateAll, evaluateSome, jsonOf } from '@ff/core/all-flags'
import { stepAt } from '@ff/core/changes'
import { valuesHash } from '@ff/core/fingerprint'
import { type EntityTag, entityTagsIn } from './entity-tag.ts'

/** An evaluation with its flag set and its context, for the usage recorder. */
export interface Evaluated {
  readonly flagSet: FlagSet
  readonly context: EvaluationContext
  readonly evaluation: Evaluation
  /** How long it took. */
  readonly micros: number
}

/** Evaluates every flag at `now` (epoch milliseconds), and measures the duration. */
export function evaluateAllTimed(
  flagSet: FlagSet,
  context: EvaluationContext,
  now: number,
): Evaluated {
  const startedAt = performance.now()
  const evaluation = evaluateAll(flagSet, context, now)
  return { flagSet, context, evaluation, micros: microsSince(startedAt) }
}

/** The same for the flags with these keys; unknown keys are ignored. */
export function evaluateSomeTimed(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
  context: EvaluationContext,
  now: number,
): Evaluated {
  const startedAt = performance.now()
  const evaluation = evaluateSome(flagSet, flagKeys, context, now)
  return { flagSet, context, evaluation, micros: microsSince(startedAt) }
}

function microsSince(startedAt: number): number {
  return (performance.now() - startedAt) * 1000
}

/** The values of one context, as they are sent. */
export interface EvaluationAnswer {
  readonly tag: EntityTag
  /** The flat object as JSON text; null if the caller already has exactly this. */
  readonly json: string | null
  /** What the text was made from; absent if nothing was evaluated. */
  readonly evaluated?: Evaluated
}

interface AnswerInput {
  readonly contextHash: string
  /** Epoch milliseconds. */
  readonly now: number
}

/** Evaluates every flag. The caller records the evaluation. */
export function evaluationAnswer(
  flagSet: FlagSet,
  { context, contextHash, now }: AnswerInput & { readonly context: EvaluationContext },
): EvaluationAnswer {
  const evaluated = evaluateAllTimed(flagSet, context, now)
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
 * Returns the tag in an `If-None-Match` header that `evaluationAnswer` would return; `undefined` if
 * there is none. Needs nothing of the context but its hash.
 */
export function findCurrentTag(
  flagSet: FlagSet,
  { ifNoneMatch, contextHash, now }: AnswerInput & { readonly ifNoneMatch: string },
): EntityTag | undefined {
  const { version } = flagSet
  const step = stepAt(flagSet, now)
  return entityTagsIn(ifNoneMatch).find(
    (tag) => tag.version === version && tag.step === step && tag.contextHash === contextHash,
  )
}
