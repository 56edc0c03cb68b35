import { type Evaluation, reasonAt, variationAt } from '../src/all-flags.ts'
import { evaluateTogether } from '../src/batch/evaluate-all.ts'
import { type EvaluationContext, evaluateFlag, type FlagSet } from '../src/index.ts'

/** Returns the key, the variation and the reason of each flag of an evaluation as text. */
export function resultsOf(evaluation: Evaluation): string[] {
  return evaluation.flags.map(({ key }, index) => {
    const { id = null } = variationAt(evaluation, index) ?? {}
    return `${key}: ${id}, ${reasonAt(evaluation, index)}`
  })
}

/** Returns the same as `resultsOf`, for flags that are evaluated together. */
export function resultsTogether(flagSet: FlagSet, context: EvaluationContext, now = 0): string[] {
  return resultsOf(evaluateTogether(flagSet, context, now))
}

/** Returns the same as `resultsOf`, for flags that are evaluated one by one. */
export function resultsAlone(flagSet: FlagSet, context: EvaluationContext, now = 0): string[] {
  return flagSet.ordered.map(({ key }) => {
    const { variationId, reason } = evaluateFlag(flagSet, key, context, now)
    return `${key}: ${variationId}, ${reason}`
  })
}
