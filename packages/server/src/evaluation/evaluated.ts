import type { EvaluationContext, FlagSet } from '@ff/core'
import { type Evaluation, evaluateAll, evaluateSome } from '@ff/core/all-flags'

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
