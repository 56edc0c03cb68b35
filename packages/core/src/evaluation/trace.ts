import type { CompiledRollout, Placement } from '../rollouts/rollout.ts'
import type { EvaluationDetail } from './detail.ts'
import type { CompiledFlag, CompiledTarget } from './flag.ts'
import type { Outcome } from './outcome.ts'
import type { CompiledRule } from './rule.ts'

/** One step of the evaluation of a flag. The evaluator adds each step that it takes to a trace. */
export type EvaluationStep =
  | { readonly kind: 'flag'; readonly state: 'active' | 'inactive' | 'malformed' }
  | PrerequisiteStep
  /** No target and no rule is tried. */
  | { readonly kind: 'empty context' }
  | TargetStep
  | RuleStep

/** A prerequisite was checked. The one that is not met is the last step. */
export interface PrerequisiteStep {
  readonly kind: 'prerequisite'
  /** `undefined` if the flag does not exist. */
  readonly flag: CompiledFlag | undefined
  readonly outcome: Outcome | undefined
  readonly isMet: boolean
}

/** A target was tried. The one that matches is the last step. */
export interface TargetStep {
  readonly kind: 'target'
  readonly target: CompiledTarget
  /** The key of the context of the target's kind; `undefined` if it has none. */
  readonly key: string | undefined
  readonly isMatch: boolean
}

/** A rule was tried. The one that serves is the last step. */
export interface RuleStep {
  readonly kind: 'rule'
  readonly rule: CompiledRule
  readonly isMatch: boolean
  /** `undefined` if the rule does not match or has no rollout. */
  readonly rollout: RolloutStep | undefined
}

/** A rollout placed a context. */
export interface RolloutStep {
  readonly rollout: CompiledRollout
  /** `undefined` if the context has no bucketing key for the rollout. */
  readonly placement: Placement | undefined
}

/** The flag whose prerequisite was not met in these steps; `undefined` if there is none. */
export function unmetFlagOf(steps: readonly EvaluationStep[]): CompiledFlag | undefined {
  const last = steps.at(-1)
  return last?.kind === 'prerequisite' && !last.isMet ? last.flag : undefined
}

/** The detail of a flag that evaluated to an outcome in these steps. */
export function detailOf(
  flag: CompiledFlag,
  { variation, explanation }: Outcome,
  steps: readonly EvaluationStep[],
): EvaluationDetail {
  const unmet = unmetFlagOf(steps)
  const last = steps.at(-1)
  const placement = last?.kind === 'rule' ? last.rollout?.placement : undefined
  const { errorCode = 'TARGETING_KEY_MISSING' } = explanation
  return {
    flagKey: flag.key,
    value: variation?.value ?? null,
    variationId: variation?.id ?? null,
    variationKey: variation?.key ?? null,
    ...explanation,
    ...(unmet && { prerequisiteKey: unmet.key }),
    ...(placement?.range && {
      bucket: placement.bucket,
      range: { from: placement.range.from, to: placement.range.to },
    }),
    ...(steps.some(isUnplaced) && { errorCode }),
  }
}

function isUnplaced(step: EvaluationStep): boolean {
  return step.kind === 'rule' && step.rollout !== undefined && step.rollout.placement === undefined
}
