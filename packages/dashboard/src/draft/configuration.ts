import type { FlagConfigurationDocument, FlagConfigurationInput } from '@ff/protocol/management'

/** The configuration of a flag in one environment. It is never changed in place. */
export type Configuration = FlagConfigurationDocument

/** The state of a configuration. */
export type ConfigurationState = Configuration['state']
/** A targeting rule of a configuration. */
export type Rule = Configuration['targetingRules'][number]
/** A rollout of a configuration. */
export type Rollout = Configuration['rollouts'][number]
/** The individual targets of one variation and context kind. */
export type Target = ConfigurationState['targets'][number]
/** A flag that must serve one of the listed variations. */
export type Prerequisite = ConfigurationState['prerequisites'][number]

/** Returns the item with an id. `undefined` if there is none. */
export function findById<T extends { readonly id: string }>(
  items: readonly T[],
  id: string | null,
): T | undefined {
  return items.find((item) => item.id === id)
}

/** Returns the rollout of a rule. `undefined` if the rule has no rollout. */
export function rolloutOf(
  { rollouts }: Pick<Configuration, 'rollouts'>,
  rule: Rule,
): Rollout | undefined {
  return findById(rollouts, rule.rolloutId)
}

/** Returns a copy in which the item with an id is replaced by the result of `change`. */
export function withItem<T extends { readonly id: string }>(
  items: readonly T[],
  id: string,
  change: (item: T) => T,
): T[] {
  return items.map((item) => (item.id === id ? change(item) : item))
}

/** Returns `true` if two values have the same JSON, in any order of the properties. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [left, right] = [definedEntries(one), new Map(definedEntries(other))]
  return (
    left.length === right.size &&
    left.every(([name, value]) => right.has(name) && isSame(value, right.get(name)))
  )
}

function definedEntries(object: object): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined)
}

/**
 * Returns a configuration without the rollouts that a rule of `before` uses and no rule of `after`
 * uses. Rollouts that were not used before are kept.
 */
export function withoutOrphans(before: Configuration, after: Configuration): Configuration {
  const used = usedRollouts(after)
  const usedBefore = usedRollouts(before)
  const kept = after.rollouts.filter(({ id }) => used.has(id) || !usedBefore.has(id))
  return kept.length === after.rollouts.length ? after : { ...after, rollouts: kept }
}

/** Returns the ids of the rollouts that rules use. */
export function usedRollouts({ targetingRules }: Configuration): ReadonlySet<string> {
  return new Set(targetingRules.flatMap(({ rolloutId }) => rolloutId ?? []))
}

/**
 * Returns the configuration for a request. The salt of a new rollout without a salt, and the start
 * of a gradual rollout without a start, are left out, so that the server chooses them.
 */
export function toConfigurationInput(
  configuration: Configuration,
  base: Configuration,
): FlagConfigurationInput {
  const { state, targetingRules } = configuration
  const rollouts = configuration.rollouts.map(({ salt, startAt, ...rollout }) => ({
    ...rollout,
    scheme: rollout.scheme as NonNullable<FlagConfigurationInput['rollouts'][number]['scheme']>,
    ...(salt !== '' || findById(base.rollouts, rollout.id) ? { salt } : {}),
    ...(startAt === null && rollout.strategy === 'gradual' ? {} : { startAt }),
  }))
  return { state, targetingRules, rollouts }
}
