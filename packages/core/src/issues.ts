import type { CompiledFlag } from './flag.ts'
import type { CompiledRollout } from './rollout.ts'
import type { CompiledRule } from './rule.ts'

type Inspected = Pick<CompiledFlag, 'definition' | 'servable' | 'variations' | 'rules'>

/** Everything that is wrong within one flag and can matter when it is evaluated, as sentences. */
export function findFlagIssues(
  flag: Inspected,
  rollouts: ReadonlyMap<string, CompiledRollout>,
): string[] {
  const { defaultVariationId, offVariationId, targets } = flag.definition
  return [
    ...flag.variations.flatMap(({ id, fault }) => {
      return fault === undefined ? [] : `The variation "${id}" cannot be read. ${fault}.`
    }),
    ...findServeIssue(flag, 'The default', defaultVariationId),
    ...findServeIssue(flag, 'The off variation', offVariationId),
    ...targets.flatMap(({ variationId }) => findServeIssue(flag, 'A target', variationId)),
    ...flag.rules.flatMap((rule) => findRuleIssues(flag, rule, rollouts)),
  ]
}

function findServeIssue(flag: Inspected, what: string, variationId: string | null): string[] {
  if (variationId === null || flag.servable.has(variationId)) return []
  return [`${what} names the variation "${variationId}", which cannot be served.`]
}

function findRuleIssues(
  flag: Inspected,
  { definition: rule, conditions: compiled }: CompiledRule,
  rollouts: ReadonlyMap<string, CompiledRollout>,
): string[] {
  const name = `The rule "${rule.id}"`
  const conditions = compiled.flatMap(({ fault }) => {
    return fault === undefined ? [] : `${name} has a condition that never holds. ${fault}`
  })
  if (rule.rolloutId === null) {
    return [...conditions, ...findServeIssue(flag, name, rule.variationId)]
  }
  const rollout = rollouts.get(rule.rolloutId)
  if (rollout === undefined) {
    return [...conditions, `${name} names the rollout "${rule.rolloutId}", which does not exist.`]
  }
  return [...conditions, ...findRolloutIssues(flag, rollout)]
}

function findRolloutIssues(flag: Inspected, rollout: CompiledRollout): string[] {
  const name = `The rollout "${rollout.id}"`
  if (rollout.fault !== undefined) return [`${name} cannot be followed. ${rollout.fault}`]
  const served = rollout.ramp === undefined ? rollout.ranges : [rollout.ramp]
  return served.flatMap(({ variationId }) => findServeIssue(flag, name, variationId))
}
