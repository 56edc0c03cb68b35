import { Evaluator } from '../evaluation/evaluator.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import { compareCodePoints } from '../model/code-point.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import type { Incremental } from '../model/incremental.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import { batchCacheOf, prepareRuleMatrix, ruleMatrixOf } from './batch-cache.ts'
import { RuleMatrixEvaluator } from './rule-matrix-evaluator.ts'

/**
 * The outcome codes of flags for one context at one point in time, in the order of the flags' keys.
 * Values, JSON text and details are read from it. Details evaluate the context a second time, so it
 * must be unchanged.
 */
export interface Evaluation {
  readonly flagSet: FlagSet
  readonly flags: readonly CompiledFlag[]
  readonly context: EvaluationContext
  readonly now: number
  /** One code for each flag, from `start` on; `variationAt` and `reasonAt` read it. */
  readonly codes: Int32Array
  readonly start: number
}

/**
 * Prepares the evaluation of all flags of a set in chunks of a few milliseconds at most: between two
 * chunks a server can do other work. Otherwise the first evaluation prepares all of it at once.
 *
 * @example
 * for (const _chunk of prepareIncrementally(flagSet)) await new Promise((resolve) => setImmediate(resolve))
 */
export function* prepareIncrementally(flagSet: FlagSet): Incremental<void> {
  const { ordered, segments } = flagSet
  for (const { rules } of ordered) {
    for (const { conditions } of rules) yield* prepareConditions(conditions)
  }
  for (const { conditions } of segments.values()) yield* prepareConditions(conditions)
  yield* prepareRuleMatrix(flagSet)
}

function* prepareConditions(conditions: readonly CompiledCondition[]): Incremental<void> {
  for (const { later, stringSet } of conditions) {
    // The condition index answers string-set conditions.
    if (stringSet === undefined && later?.prepare() === true) yield
  }
}

/** Evaluates every flag at `now` (epoch milliseconds). */
export function evaluateAll(flagSet: FlagSet, context: EvaluationContext, now: number): Evaluation {
  const { ordered: flags } = flagSet
  const matrix = ruleMatrixOf(flagSet)
  const cache = batchCacheOf(flagSet)
  const start = cache.reserve(flags.length)
  const { codes } = cache
  codes.set(matrix.initial, start)
  const evaluator = new Evaluator(flagSet, context, now)
  if (!isEmptyContext(evaluator.context)) {
    const matrixEvaluator = cache.evaluator ?? new RuleMatrixEvaluator(matrix)
    cache.evaluator = undefined
    matrixEvaluator.evaluate(evaluator, codes, start)
    cache.evaluator = matrixEvaluator
  }
  for (const position of matrix.others) {
    const flag = flags[position]
    if (flag !== undefined) codes[start + position] = evaluator.evaluate(flag).code
  }
  return { flagSet, flags, context, now, codes, start }
}

/** Evaluates the flags with these keys at `now` (epoch milliseconds); unknown keys are ignored. */
export function evaluateSome(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
  context: EvaluationContext,
  now: number,
): Evaluation {
  const keys = new Set(flagKeys)
  if (keys.size > MAX_ONE_BY_ONE) {
    return onlyFlags(evaluateAll(flagSet, context, now), (key) => keys.has(key))
  }
  const flags: CompiledFlag[] = []
  for (const key of keys) {
    const flag = flagSet.flags.get(key)
    if (flag !== undefined) flags.push(flag)
  }
  flags.sort((left, right) => compareCodePoints(left.key, right.key))
  const evaluator = new Evaluator(flagSet, context, now)
  const codes = Int32Array.from(flags, (flag) => evaluator.evaluate(flag).code)
  return { flagSet, flags, context, now, codes, start: 0 }
}

/** Evaluating all flags together costs less than evaluating more than so many one by one. */
const MAX_ONE_BY_ONE = 16

/** Returns the evaluation of some of its flags. */
export function onlyFlags(
  evaluation: Evaluation,
  isWanted: (flagKey: string) => boolean,
): Evaluation {
  const picked: CompiledFlag[] = []
  const codes: number[] = []
  for (const [index, flag] of evaluation.flags.entries()) {
    if (!isWanted(flag.key)) continue
    picked.push(flag)
    codes.push(evaluation.codes[evaluation.start + index] ?? 0)
  }
  return { ...evaluation, flags: picked, codes: Int32Array.from(codes), start: 0 }
}
