import type { EvaluationDetail } from '../evaluation/detail.ts'
import { unknownFlagDetail } from '../evaluation/evaluate.ts'
import { Evaluator } from '../evaluation/evaluator.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import { detailOf, type EvaluationStep, unmetFlagOf } from '../evaluation/trace.ts'
import { compareCodePoints } from '../model/code-point.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { CompiledCondition } from '../operators/condition.ts'

/** An `EvaluationDetail` with the prerequisites and attributes that the result depends on. */
export interface FullDetail extends EvaluationDetail {
  /** The version of the flag set. */
  readonly version: number
  /**
   * The chain of unmet prerequisites: the key of the flag's unmet prerequisite, then that of the
   * prerequisite's own unmet prerequisite, and so on. Empty if all prerequisites are met.
   */
  readonly prerequisiteChain: readonly string[]
  /**
   * The references of the attributes that were read, including missing ones, sorted by code point.
   * These are the attributes of all targets and rules up to the one that serves the value, and of
   * the segments and flags that they refer to. Two contexts have the same result if they have the
   * same kinds, the same keys and the same values of these attributes.
   */
  readonly attributesRead: readonly string[]
}

/**
 * Evaluates one flag at `now` (epoch milliseconds) and returns a `FullDetail`. Never throws. Takes
 * several times as long as `evaluateFlag`.
 */
export function evaluateDetail(
  flagSet: FlagSet,
  flagKey: string,
  context: EvaluationContext,
  now: number,
): FullDetail {
  const { version } = flagSet
  const evaluation = new TracedEvaluation(flagSet, flagKey, new Evaluator(flagSet, context, now))
  const { detail, prerequisiteChain, attributesRead } = evaluation
  return { ...detail, version, prerequisiteChain, attributesRead }
}

/** The traced evaluation of a flag and of the flags that it depends on. */
export class TracedEvaluation {
  readonly detail: EvaluationDetail
  /** The steps of the evaluation. Empty for an unknown flag. */
  readonly steps: readonly EvaluationStep[] = []
  readonly #flagSet: FlagSet
  readonly #flag: CompiledFlag | undefined
  readonly #evaluator: Evaluator

  constructor(flagSet: FlagSet, flagKey: string, evaluator: Evaluator) {
    this.#flagSet = flagSet
    this.#flag = flagSet.flags.get(flagKey)
    this.#evaluator = evaluator
    if (this.#flag === undefined) this.detail = unknownFlagDetail(flagKey)
    else {
      const steps: EvaluationStep[] = []
      this.detail = detailOf(this.#flag, evaluator.evaluate(this.#flag, steps), steps)
      this.steps = steps
    }
  }

  /** See `FullDetail.prerequisiteChain`. */
  get prerequisiteChain(): readonly string[] {
    const chain: string[] = []
    let unmet = unmetFlagOf(this.steps)
    while (unmet !== undefined) {
      chain.push(unmet.key)
      unmet = unmetFlagOf(this.#stepsOf(unmet))
    }
    return chain
  }

  /** See `FullDetail.attributesRead`. */
  get attributesRead(): readonly string[] {
    const attributes = new Set<string>()
    const added = new Set<unknown>([this.#flag])
    const isNew = (dependency: unknown) => !added.has(dependency) && added.add(dependency)
    const addSteps = (steps: readonly EvaluationStep[]) => {
      for (const step of steps) {
        if (step.kind === 'prerequisite') addFlag(step.flag)
        if (step.kind === 'target') attributes.add(`${step.target.kind}.key`)
        if (step.kind === 'rule') addRule(step.rule)
      }
    }
    const addFlag = (flag: CompiledFlag | undefined) => {
      if (flag !== undefined && isNew(flag)) addSteps(this.#stepsOf(flag))
    }
    const addRule = ({ conditions, definition, serve }: CompiledRule) => {
      addConditions(conditions)
      if (definition.segmentId !== null) addSegment(definition.segmentId)
      if (serve.kind === 'rollout') attributes.add(serve.rollout.bucketBy.name)
    }
    const addConditions = (conditions: readonly CompiledCondition[]) => {
      for (const { reference, segmentIds, flagKey } of conditions) {
        if (reference !== undefined) attributes.add(reference.name)
        for (const id of segmentIds) addSegment(id)
        if (flagKey !== undefined) addFlag(this.#flagSet.flagsByKey.get(flagKey))
      }
    }
    const addSegment = (id: string) => {
      const segment = this.#flagSet.segments.get(id)
      if (segment === undefined || !isNew(segment)) return
      const { conditions, included, excluded, keyAttribute } = segment
      if (included.size > 0 || excluded.size > 0) attributes.add(keyAttribute.name)
      addConditions(conditions)
    }
    addSteps(this.steps)
    return [...attributes].sort(compareCodePoints)
  }

  #stepsOf(flag: CompiledFlag): readonly EvaluationStep[] {
    const steps: EvaluationStep[] = []
    this.#evaluator.evaluate(flag, steps)
    return steps
  }
}
