import type { CompiledRollout, Placement } from '../rollouts/rollout.ts'
import type { EvaluationDetail } from './detail.ts'
import type { CompiledFlag, CompiledTarget } from './flag.ts'
import type { Outcome } from './outcome.ts'
import type { CompiledRule } from './rule.ts'

/** A step of the evaluation of a flag. The evaluator adds each step to a trace. */
export type EvaluationStep =
  | { readonly kind: 'flag'; readonly state: 'active' | 'inactive' | 'malformed' }
  | PrerequisiteStep
  /** The context is empty, so that targets and rules are skipped. */
  | { readonly kind: 'empty context' }
  | TargetStep
  | RuleStep

/** The check of a prerequisite. If the prerequisite is not met, this is the last step. */
export interface PrerequisiteStep {
  readonly kind: 'prerequisite'
  /** The prerequisite flag. `undefined` if the flag does not exist. */
  readonly flag: CompiledFlag | undefined
  readonly outcome: Outcome | undefined
  readonly isMet: boolean
}

/** The check of a target. If the target matches, this is the last step. */
export interface TargetStep {
  readonly kind: 'target'
  readonly target: CompiledTarget
  /** The key of the context that has the kind of the target. `undefined` if there is none. */
  readonly key: string | undefined
  readonly isMatch: boolean
}

/** The evaluation of a rule. If the rule serves a variation, this is the last step. */
export interface RuleStep {
  readonly kind: 'rule'
  readonly rule: CompiledRule
  readonly isMatch: boolean
  /** The evaluation of the rollout. `undefined` if the rule does not match or has no rollout. */
  readonly rollout: RolloutStep | undefined
}

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

/** The evaluation of a rollout. */
export interface RolloutStep {
  readonly rollout: CompiledRollout
  /** The bucket and its range. `undefined` if the context has no bucketing key for the rollout. */
  readonly placement: Placement | undefined
}

/**
 * Returns the flag of the first prerequisite that is not met. `undefined` if all prerequisites are
 * met, or if this flag does not exist.
 */
export function unmetFlagOf(steps: readonly EvaluationStep[]): CompiledFlag | undefined {
  const last = steps.at(-1)
  return last?.kind === 'prerequisite' && !last.isMet ? last.flag : undefined
}

/** Returns the detail of a flag from its outcome and the steps of its evaluation. */
export function detailOf(
  flag: CompiledFlag,
  { variation, explanation }: Outcome,
  steps: readonly EvaluationStep[],
): EvaluationDetail {
  const unmet = unmetFlagOf(steps)
  const last = steps.at(-1)
  const placement = last?.kind === 'rule' ? last.rollout?.placement : undefined
  const detail: Mutable<EvaluationDetail> = {
    flagKey: flag.key,
    value: variation?.value ?? null,
    variationId: variation?.id ?? null,
    variationKey: variation?.key ?? null,
    ...explanation,
  }
  if (unmet !== undefined) detail.prerequisiteKey = unmet.key
  if (placement?.range !== undefined) {
    const { from, to } = placement.range
    detail.bucket = placement.bucket
    detail.range = { from, to }
  }
  if (steps.some(isUnplaced)) detail.errorCode ??= 'TARGETING_KEY_MISSING'
  return detail
}

function isUnplaced(step: EvaluationStep): boolean {
  return step.kind === 'rule' && step.rollout !== undefined && step.rollout.placement === undefined
}
