import { viewOf } from './batch/flag-set-view.ts'
import { compileRuleMatrixIncrementally, ruleMatrixOf } from './batch/rule-matrix.ts'
import { RuleMatrixEvaluator } from './batch/rule-matrix-evaluator.ts'
import type { EvaluationDetail, EvaluationReason } from './evaluation/detail.ts'
import { giveBack, takeEvaluator } from './evaluation/evaluator.ts'
import type { CompiledFlag } from './evaluation/flag.ts'
import type { FlagSet } from './evaluation/flag-set.ts'
import { type CompiledVariation, reasonOf, servedBy } from './evaluation/outcome.ts'
import { compareCodePoints } from './model/code-point.ts'
import { type EvaluationContext, isEmptyContext } from './model/context.ts'
import type { FlagValue, FlagValues } from './model/value.ts'
import type { CompiledCondition } from './operators/condition.ts'

export { clientView } from './evaluation/client-view.ts'

/**
 * The answers for one context at one timestamp, in the order of the flags' keys. Values, JSON text
 * and details are views of it. Details look at the context once more, which must be unchanged.
 */
export interface Evaluation {
  readonly flagSet: FlagSet
  readonly flags: readonly CompiledFlag[]
  readonly context: EvaluationContext
  readonly now: number
  /** From `start` on one number for each flag; `variationAt` and `reasonAt` read it. */
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
export function* prepareIncrementally(flagSet: FlagSet): Generator<undefined, void> {
  const { ordered, segments } = flagSet
  for (const { rules } of ordered) {
    for (const { conditions } of rules) yield* prepareConditions(conditions)
  }
  for (const { conditions } of segments.values()) yield* prepareConditions(conditions)
  yield* compileRuleMatrixIncrementally(flagSet)
}

function* prepareConditions(conditions: readonly CompiledCondition[]): Generator<undefined, void> {
  for (const { later, stringSet } of conditions) {
    // The condition index answers string-set conditions.
    if (stringSet === undefined && later?.prepare() === true) yield
  }
}

/** Evaluates every flag at `now` (epoch milliseconds). */
export function evaluateAll(flagSet: FlagSet, context: EvaluationContext, now: number): Evaluation {
  const { ordered: flags, workspace } = flagSet
  const matrix = ruleMatrixOf(flagSet)
  const start = workspace.reserve(flags.length)
  const { codes } = workspace
  codes.set(matrix.initial, start)
  const evaluator = takeEvaluator(flagSet, context, now)
  if (!isEmptyContext(evaluator.context)) {
    evaluator.runner ??= new RuleMatrixEvaluator(matrix, evaluator)
    evaluator.runner.run(codes, start)
  }
  for (const position of matrix.others) {
    const flag = flags[position]
    if (flag !== undefined) codes[start + position] = evaluator.answer(flag).code
  }
  giveBack(flagSet, evaluator)
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
  const evaluator = takeEvaluator(flagSet, context, now)
  const codes = Int32Array.from(flags, (flag) => evaluator.answer(flag).code)
  giveBack(flagSet, evaluator)
  return { flagSet, flags, context, now, codes, start: 0 }
}

/** More flags than these cost less when all are evaluated together. */
const MAX_ONE_BY_ONE = 16

/** Some flags of an evaluation. */
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

/** The variation that the flag with this index serves; undefined: none. */
export function variationAt(evaluation: Evaluation, index: number): CompiledVariation | undefined {
  return evaluation.flags[index]?.variations[servedAt(evaluation, index) - 1]
}

/** Why the flag with this index serves what it does. */
export function reasonAt({ codes, start }: Evaluation, index: number): EvaluationReason {
  return reasonOf(codes[start + index] ?? 0)
}

/** Values by flag key, in an object that inherits nothing, so that any key is safe. */
export function valuesOf(evaluation: Evaluation): FlagValues {
  const { flagSet, flags, codes, start } = evaluation
  if (flags === flagSet.ordered) return viewOf(flagSet).values(codes, start)
  const values: Record<string, FlagValue> = Object.create(null)
  for (const [index, flag] of flags.entries()) {
    values[flag.key] = flag.values[servedAt(evaluation, index)] ?? null
  }
  return values
}

/** The JSON text of `valuesOf`, joined from pieces that are written once. */
export function jsonOf(evaluation: Evaluation): string {
  const { flagSet, flags, codes, start } = evaluation
  if (flags === flagSet.ordered) return viewOf(flagSet).json(codes, start)
  const members = flags.map((flag, index) => flag.members[servedAt(evaluation, index)])
  return `{${members.join('').slice(1)}}`
}

/** What each flag evaluated to and why, in the order of the flags' keys. */
export function detailsOf({
  flagSet,
  flags,
  context,
  now,
}: Evaluation): readonly EvaluationDetail[] {
  const evaluator = takeEvaluator(flagSet, context, now)
  const details = flags.map((flag) => evaluator.detail(flag))
  giveBack(flagSet, evaluator)
  return details
}

function servedAt({ codes, start }: Evaluation, index: number): number {
  return servedBy(codes[start + index] ?? 0)
}
