import {
  type CompiledCondition,
  type ConditionScope,
  compileCondition,
  matchesAll,
} from './condition.ts'
import type { RuleDefinition } from './definition.ts'
import type { Explanation } from './detail.ts'
import type { CompiledRollout } from './rollout.ts'

/** A targeting rule made ready for evaluation. Made by `compileRule`. */
export interface CompiledRule {
  readonly definition: RuleDefinition
  readonly conditions: readonly CompiledCondition[]
  readonly serve: Serve
  /** What is said of an answer that the rule gives. */
  readonly explanation: Explanation
}

/** What a rule gives to the contexts it matches. */
export type Serve =
  | { readonly kind: 'variation'; readonly variationId: string }
  | { readonly kind: 'rollout'; readonly rollout: CompiledRollout }
  | { readonly kind: 'nothing' }
  /** It refers to a rollout that does not exist or cannot be followed. */
  | { readonly kind: 'broken' }

/** Prepares a rule, given the rollouts of its flag by id. */
export function compileRule(
  definition: RuleDefinition,
  rollouts: ReadonlyMap<string, CompiledRollout>,
): CompiledRule {
  const { id: ruleId, segmentId, rolloutId } = definition
  return {
    definition,
    conditions: definition.conditions.map(compileCondition),
    serve: compileServe(definition, rollouts),
    explanation: {
      reason: rolloutId === null ? 'TARGETING_MATCH' : 'SPLIT',
      ruleId,
      ...(segmentId === null ? {} : { segmentId }),
      ...(rolloutId === null ? {} : { rolloutId }),
    },
  }
}

function compileServe(
  { rolloutId, variationId }: RuleDefinition,
  rollouts: ReadonlyMap<string, CompiledRollout>,
): Serve {
  if (rolloutId !== null) {
    const rollout = rollouts.get(rolloutId)
    const canServe = rollout !== undefined && rollout.fault === undefined
    return canServe ? { kind: 'rollout', rollout } : { kind: 'broken' }
  }
  return variationId === null ? { kind: 'nothing' } : { kind: 'variation', variationId }
}

/** Whether all the rule's conditions hold and its segment, if it has one, matches. */
export function matchesRule(rule: CompiledRule, scope: ConditionScope): boolean {
  const { segmentId } = rule.definition
  return matchesAll(rule.conditions, scope) && (segmentId === null || scope.isInSegment(segmentId))
}
