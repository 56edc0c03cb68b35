import type { EvaluationContext } from '../model/context.ts'
import type { FlagValue } from '../model/value.ts'
import type { EvaluationDetail } from './detail.ts'
import { giveBack, takeEvaluator } from './evaluation-cache.ts'
import type { FlagSet } from './flag-set.ts'

/** Evaluates one flag at `now` (epoch milliseconds). An unknown key is an `ERROR`, not an error. */
export function evaluateFlag(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): EvaluationDetail {
  const flag = flagSet.flags.get(flagKey)
  if (flag === undefined) {
    const nothing = { value: null, variationId: null, variationKey: null }
    return { flagKey, ...nothing, reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }
  }
  const evaluator = takeEvaluator(flagSet, context, now)
  const detail = evaluator.detail(flag)
  giveBack(flagSet, evaluator)
  return detail
}

/**
 * The value of one flag at `now` (epoch milliseconds), and nothing else, not even garbage. It is
 * null when there is nothing to serve, and for an unknown key.
 */
export function evaluateValue(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): FlagValue {
  const flag = flagSet.flags.get(flagKey)
  if (flag === undefined) return null
  const evaluator = takeEvaluator(flagSet, context, now)
  const { variation } = evaluator.evaluate(flag)
  giveBack(flagSet, evaluator)
  return variation === undefined ? null : variation.value
}
