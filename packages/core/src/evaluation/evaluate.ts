import type { EvaluationContext } from '../model/context.ts'
import type { FlagValue } from '../model/value.ts'
import type { EvaluationDetail } from './detail.ts'
import { Evaluator } from './evaluator.ts'
import type { FlagSet } from './flag-set.ts'

/** Evaluates one flag at `now` (epoch milliseconds). An unknown key is an `ERROR`, not an error. */
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

/** The detail of a key that no flag has. */
export function unknownFlagDetail(flagKey: string): EvaluationDetail {
  const nothing = { value: null, variationId: null, variationKey: null }
  return { flagKey, ...nothing, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }
}

/**
 * The value of one flag at `now` (epoch milliseconds), and nothing else, which costs least. It is
 * null if there is nothing to serve, and for an unknown key.
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
