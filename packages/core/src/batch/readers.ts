import type { EvaluationDetail, EvaluationReason } from '../evaluation/detail.ts'
import { Evaluator } from '../evaluation/evaluator.ts'
import { type CompiledVariation, reasonOf, servedBy } from '../evaluation/outcome.ts'
import type { FlagValue, FlagValues } from '../model/value.ts'
import { viewOf } from './batch-cache.ts'
import type { Evaluation } from './evaluate-all.ts'

/**
 * Returns the variation that the flag at `index` serves, or `undefined` if the flag serves none.
 */
export function variationAt(evaluation: Evaluation, index: number): CompiledVariation | undefined {
  return evaluation.flags[index]?.variations[servedAt(evaluation, index) - 1]
}

/** Returns the reason why the flag at `index` serves its variation. */
export function reasonAt({ codes, start }: Evaluation, index: number): EvaluationReason {
  return reasonOf(codes[start + index] ?? 0)
}

/**
 * Returns the values by flag key, in an object without a prototype, so that `__proto__` is an
 * ordinary key.
 */
export function valuesOf(evaluation: Evaluation): FlagValues {
  const { flagSet, flags, codes, start } = evaluation
  if (flags === flagSet.ordered) return viewOf(flagSet).values(codes, start)
  const values: Record<string, FlagValue> = Object.create(null)
  for (const [index, flag] of flags.entries()) {
    values[flag.key] = flag.values[servedAt(evaluation, index)] ?? null
  }
  return values
}

/** Returns the JSON text of the values that `valuesOf` returns. Faster than `JSON.stringify`. */
export function jsonOf(evaluation: Evaluation): string {
  const { flagSet, flags, codes, start } = evaluation
  if (flags === flagSet.ordered) return viewOf(flagSet).json(codes, start)
  const members = flags.map((flag, index) => flag.members[servedAt(evaluation, index)])
  return `{${members.join('').slice(1)}}`
}

/** Returns the detail of each flag, sorted by flag key. Evaluates the flags again. */
export function detailsOf({
  flagSet,
  flags,
  context,
  now,
}: Evaluation): readonly EvaluationDetail[] {
  const evaluator = new Evaluator(flagSet, context, now)
  return flags.map((flag) => evaluator.detail(flag))
}

function servedAt({ codes, start }: Evaluation, index: number): number {
  return servedBy(codes[start + index] ?? 0)
}
