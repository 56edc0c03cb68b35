import type { RuleDefinition } from '../model/definition.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental, Pace } from '../model/incremental.ts'
import {
  type CompiledCondition,
  type ConditionCompiler,
  type ConditionScope,
  matchesAll,
} from '../operators/condition.ts'
import type { CompiledRollout } from '../rollouts/rollout.ts'
import type { Explanation } from './detail.ts'
import { type Outcome, type Servable, serve, serveOr } from './outcome.ts'

/** A targeting rule that is prepared for evaluation. Created by `compileRule`. */
export interface CompiledRule {
  readonly definition: RuleDefinition
  readonly conditions: readonly CompiledCondition[]
  readonly serve: Serve
}

/** The result of a rule for the contexts that it matches. */
export type Serve =
  | { readonly kind: 'variation'; readonly variationId: string; readonly outcome: Outcome }
  | {
      readonly kind: 'rollout'
      readonly rollout: CompiledRollout
      /** The outcome of each range of the rollout. */
      readonly outcomes: readonly Outcome[]
    }
  | { readonly kind: 'nothing' }
  /** The rollout of the rule does not exist or is invalid. */
  | { readonly kind: 'broken'; readonly outcome: Outcome }

/** The other data of a flag that is required to compile its rules. */
export interface RuleSurroundings {
  readonly flag: Servable
  /** The rollouts of the flag, by id. */
  readonly rollouts: ReadonlyMap<string, CompiledRollout>
  readonly compiler: ConditionCompiler
}

/** Compiles a rule. Throws only if the definition does not have the declared type. */
export function* compileRule(
  definition: RuleDefinition,
  { flag, rollouts, compiler }: RuleSurroundings,
  pace: Pace,
): Incremental<CompiledRule> {
  const conditions = yield* compiler.compileAll(definition.conditions, pace)
  return { definition, conditions, serve: compileServe(definition, flag, rollouts) }
}

function compileServe(
  definition: RuleDefinition,
  flag: Servable,
  rollouts: ReadonlyMap<string, CompiledRollout>,
): Serve {
  const { rolloutId, variationId } = definition
  const explanation = explanationOf(definition)
  if (rolloutId !== null) {
    const rollout = rollouts.get(rolloutId)
    if (rollout === undefined || rollout.fault !== undefined) {
      return {
        kind: 'broken',
        outcome: serveOr(flag.servable.get(flag.defaultVariationId), undefined, explanation),
      }
    }
    return { kind: 'rollout', rollout, outcomes: rolloutOutcomes(flag, rollout, explanation) }
  }
  if (variationId === null) return { kind: 'nothing' }
  return { kind: 'variation', variationId, outcome: serve(flag, variationId, explanation) }
}

function explanationOf({ id: ruleId, segmentId, rolloutId }: RuleDefinition): Explanation {
  return {
    reason: rolloutId === null ? 'TARGETING_MATCH' : 'SPLIT',
    ruleId,
    ...(segmentId === null ? {} : { segmentId }),
    ...(rolloutId === null ? {} : { rolloutId }),
  }
}

/**
 * Returns the outcome of each range. Ranges with the same variation have the same outcome object.
 */
function rolloutOutcomes(
  flag: Servable,
  { gradual, ranges }: CompiledRollout,
  explanation: Explanation,
): readonly Outcome[] {
  const outcomes = new Map<string, Outcome>()
  return (gradual === undefined ? ranges : [gradual]).map(({ variationId }) => {
    return getOrMake(outcomes, variationId, () => serve(flag, variationId, explanation))
  })
}

/** Returns `true` if all conditions of the rule match and its segment, if it has one, matches. */
export function matchesRule(rule: CompiledRule, scope: ConditionScope): boolean {
  const { segmentId } = rule.definition
  return matchesAll(rule.conditions, scope) && (segmentId === null || scope.isInSegment(segmentId))
}
