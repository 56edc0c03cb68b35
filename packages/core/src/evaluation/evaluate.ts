import type { EvaluationContext } from '../model/context.ts'
import type { FlagValue } from '../model/value.ts'
import type { EvaluationDetail } from './detail.ts'
import { Evaluator } from './evaluator.ts'
import type { CompiledFlag } from './flag.ts'
import type { FlagSet } from './flag-set.ts'

/**
 * Evaluates one flag at `now` (epoch milliseconds) and returns its detail. Never throws. For an
 * unknown flag, the reason is `ERROR` and the error code is `FLAG_NOT_FOUND`.
 */
export function evaluateFlag(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): EvaluationDetail {
  const flag = flagSet.flags.get(flagKey)
  return flag === undefined
    ? unknownFlagDetail(flagKey)
    : new Evaluator(flagSet, context, now).detail(flag)
}

/** Returns the detail of an unknown flag. */
export function unknownFlagDetail(flagKey: string): EvaluationDetail {
  const nothing = { value: null, variationId: null, variationKey: null }
  return { flagKey, ...nothing, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }
}

/**
 * Returns the value of one flag at `now` (epoch milliseconds), without its detail. `null` if the
 * flag is unknown or cannot serve a variation. Never throws.
 */
export function evaluateValue(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): FlagValue {
  const flag = flagSet.flags.get(flagKey)
  if (flag === undefined) return null
  return new Evaluator(flagSet, context, now).evaluate(flag).variation?.value ?? null
}

/**
 * Evaluates one flag of a flag set at `now` (epoch milliseconds) and returns its outcome code. See
 * `servedBy` and `reasonOf`. Never throws.
 */
export function evaluateCode(
  flagSet: FlagSet,
  flag: CompiledFlag,
  context: EvaluationContext,
  now: number,
): number {
  return new Evaluator(flagSet, context, now).evaluate(flag).code
}
