import { Evaluator } from '../evaluation/evaluator.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import { type FlagSet, prepareDefinitions } from '../evaluation/flag-set.ts'
import { compareCodePoints } from '../model/code-point.ts'
import { type EvaluationContext, isEmptyContext } from '../model/context.ts'
import type { Incremental } from '../model/incremental.ts'
import type { CompiledCondition } from '../operators/condition.ts'
import { batchCacheOf, prepareRuleMatrix, ruleMatrixOf } from './batch-cache.ts'
import type { ConditionIndex } from './condition-index.ts'
import { applyPrerequisites } from './prerequisite-table.ts'
import { RuleMatrixEvaluator } from './rule-matrix-evaluator.ts'

/**
 * The outcome codes of flags for one context at one point in time. `valuesOf`, `jsonOf` and
 * `detailsOf` convert an evaluation to values, JSON text and details. The context must not be
 * modified before `detailsOf` is called, because `detailsOf` evaluates the flags again.
 */
export interface Evaluation {
  readonly flagSet: FlagSet
  /** The evaluated flags, sorted by key. */
  readonly flags: readonly CompiledFlag[]
  readonly context: EvaluationContext
  /** The time of the evaluation, in epoch milliseconds. */
  readonly now: number
  /** One outcome code per flag, from the index `start` on. See `variationAt` and `reasonAt`. */
  readonly codes: Int32Array
  readonly start: number
}

/**
 * Prepares the evaluation of all flags of a flag set, and yields at least every few milliseconds, so
 * that a server can do other work meanwhile. Without this call, the first evaluations evaluate all
 * flags one by one, and a later one does all preparations at once.
 *
 * @example
 * for (const _chunk of prepareIncrementally(flagSet)) await new Promise((resolve) => setImmediate(resolve))
 */
export function* prepareIncrementally(flagSet: FlagSet): Incremental<void> {
  yield* prepareDefinitions(flagSet)
  const { shards, segments } = yield* prepareRuleMatrix(flagSet)
  for (const { group } of shards) yield* prepareConditions(conditionsAlone(group.index))
  yield* prepareConditions(conditionsAlone(segments.index))
  for (const { segment, isSeparate } of segments.segments) {
    if (isSeparate) yield* prepareConditions(segment?.conditions ?? [])
  }
}

/**
 * Returns the conditions that the index does not evaluate, or not for all texts. A condition with
 * listed texts needs no preparation, because the index evaluates it for each text.
 */
function conditionsAlone({ unindexed, values }: ConditionIndex): readonly CompiledCondition[] {
  const scaled = values.filter(({ scale }) => scale !== undefined)
  return [
    ...unindexed.map(({ condition }) => condition),
    ...scaled.flatMap(({ conditions }) => conditions),
  ]
}

function* prepareConditions(conditions: readonly CompiledCondition[]): Incremental<void> {
  for (const { test } of conditions) if (test?.prepare() === true) yield
}

/** Evaluates all flags of a flag set at `now` (epoch milliseconds). Never throws. */
export function evaluateAll(flagSet: FlagSet, context: EvaluationContext, now: number): Evaluation {
  if (isForMatrix(flagSet)) return evaluateTogether(flagSet, context, now)
  return evaluateEach(flagSet, [...flagSet.ordered], context, now)
}

/** Evaluates all flags of a flag set with its rule matrix. */
export function evaluateTogether(
  flagSet: FlagSet,
  context: EvaluationContext,
  now: number,
): Evaluation {
  const { ordered: flags } = flagSet
  const matrix = ruleMatrixOf(flagSet)
  const cache = batchCacheOf(flagSet)
  const start = cache.reserve(matrix.initial.length)
  const { codes } = cache
  codes.set(matrix.initial, start)
  const evaluator = new Evaluator(flagSet, context, now)
  if (!isEmptyContext(evaluator.context)) {
    const matrixEvaluator = cache.evaluator ?? new RuleMatrixEvaluator(matrix)
    cache.evaluator = undefined
    matrixEvaluator.evaluate(evaluator, codes, start)
    cache.evaluator = matrixEvaluator
  }
  applyPrerequisites(matrix.prerequisites, codes, start)
  return { flagSet, flags, context, now, codes, start }
}

/** Evaluates the flags with these keys at `now` (epoch milliseconds). Unknown keys are ignored. */
export function evaluateSome(
  flagSet: FlagSet,
  flagKeys: Iterable<string>,
  context: EvaluationContext,
  now: number,
): Evaluation {
  const keys = new Set(flagKeys)
  if (keys.size > MAX_ONE_BY_ONE && isForMatrix(flagSet)) {
    return onlyFlags(evaluateTogether(flagSet, context, now), (key) => keys.has(key))
  }
  const flags: CompiledFlag[] = []
  for (const key of keys) {
    const flag = flagSet.flags.get(key)
    if (flag !== undefined) flags.push(flag)
  }
  flags.sort((left, right) => compareCodePoints(left.key, right.key))
  return evaluateEach(flagSet, flags, context, now)
}

/** Evaluates flags one by one. */
function evaluateEach(
  flagSet: FlagSet,
  flags: readonly CompiledFlag[],
  context: EvaluationContext,
  now: number,
): Evaluation {
  const evaluator = new Evaluator(flagSet, context, now)
  const codes = Int32Array.from(flags, (flag) => evaluator.evaluate(flag).code)
  return { flagSet, flags, context, now, codes, start: 0 }
}

/**
 * The number of flags up to which evaluating them one by one is faster than evaluating all flags.
 */
const MAX_ONE_BY_ONE = 16

/**
 * The number of evaluations of many flags before the rule matrix is compiled, which takes as long
 * as hundreds of evaluations one by one. Many processes never evaluate so often.
 */
const MAX_ALONE = 16

/** Returns `true` if the next evaluation of many flags uses the rule matrix. Counts the others. */
function isForMatrix(flagSet: FlagSet): boolean {
  const cache = batchCacheOf(flagSet)
  if (cache.matrix !== undefined || cache.evaluationsAlone === MAX_ALONE) return true
  cache.evaluationsAlone += 1
  return false
}

/**
 * Returns the part of an evaluation that contains the flags for which `isWanted` returns `true`.
 */
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
