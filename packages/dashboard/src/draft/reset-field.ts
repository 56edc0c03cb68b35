import {
  type Configuration,
  type ConfigurationState,
  findById,
  type Rollout,
  type Rule,
  withItem,
  withoutOrphans,
} from './configuration.ts'

/** A field of a configuration. `order` is the order of the rules. */
export type ConfigurationField =
  | { readonly part: 'state'; readonly field: keyof ConfigurationState }
  | { readonly part: 'rule'; readonly id: string; readonly field?: keyof Rule }
  | { readonly part: 'rollout'; readonly id: string; readonly field?: keyof Rollout }
  | { readonly part: 'order' }

/** The fields of a rule that are only valid together. */
const RULE_GROUPS: readonly (readonly (keyof Rule)[])[] = [
  ['kind', 'segmentId'],
  ['variationId', 'rolloutId'],
]

/** The fields of a rollout that are only valid together if its strategy changes. */
const STRATEGY_FIELDS: readonly (keyof Rollout)[] = [
  'strategy',
  'variationId',
  'percentage',
  'variants',
  'targetPercentage',
  'increment',
  'intervalHours',
  'startAt',
]

/**
 * Returns `current` with a field of `base`, and with the fields that are only valid together with
 * it. Without `field`, a whole rule or rollout is reset.
 */
export function withResetField(
  base: Configuration,
  current: Configuration,
  field: ConfigurationField,
): Configuration {
  if (field.part === 'state') {
    return { ...current, state: { ...current.state, [field.field]: base.state[field.field] } }
  }
  if (field.part === 'order') {
    return { ...current, targetingRules: inOrderOf(base.targetingRules, current.targetingRules) }
  }
  if (field.part === 'rollout') return withResetRollout(base, current, field)
  const targetingRules = withResetItem(base.targetingRules, current.targetingRules, {
    id: field.id,
    fields: field.field && groupOf(field.field),
  })
  return withoutOrphans(current, withKnownRollouts(base, { ...current, targetingRules }))
}

function groupOf(field: keyof Rule): readonly (keyof Rule)[] {
  return RULE_GROUPS.find((group) => group.includes(field)) ?? [field]
}

function withResetRollout(
  base: Configuration,
  current: Configuration,
  { id, field }: Extract<ConfigurationField, { part: 'rollout' }>,
): Configuration {
  const original = findById(base.rollouts, id)
  if (original === undefined && field === undefined) return withoutRollout(base, current, id)
  const isMoved = original?.strategy !== findById(current.rollouts, id)?.strategy
  const isGrouped = field !== undefined && isMoved && STRATEGY_FIELDS.includes(field)
  const fields = isGrouped ? STRATEGY_FIELDS : field && [field]
  return { ...current, rollouts: withResetItem(base.rollouts, current.rollouts, { id, fields }) }
}

/** Returns a configuration without a new rollout. Rules that use it serve what they served. */
function withoutRollout(base: Configuration, current: Configuration, id: string): Configuration {
  const targetingRules = current.targetingRules.map((rule) => {
    if (rule.rolloutId !== id) return rule
    const { variationId = null, rolloutId = null } = findById(base.targetingRules, rule.id) ?? {}
    return { ...rule, variationId, rolloutId }
  })
  const rollouts = current.rollouts.filter((rollout) => rollout.id !== id)
  return withKnownRollouts(base, { ...current, targetingRules, rollouts })
}

interface ResetItem<T> {
  readonly id: string
  readonly fields: readonly (keyof T)[] | undefined
}

function withResetItem<T extends { readonly id: string }>(
  base: readonly T[],
  current: readonly T[],
  { id, fields }: ResetItem<T>,
): T[] {
  const original = findById(base, id)
  if (original === undefined) {
    return fields === undefined ? current.filter((item) => item.id !== id) : [...current]
  }
  if (findById(current, id) === undefined) {
    const items = [...current]
    items.splice(base.indexOf(original), 0, original)
    return items
  }
  if (fields === undefined) return withItem(current, id, () => original)
  const values = Object.fromEntries(fields.map((field) => [field, original[field]]))
  return withItem(current, id, (item) => ({ ...item, ...values }))
}

/** Returns a configuration with the rollouts of `base` that its rules use and that it lacks. */
function withKnownRollouts(base: Configuration, configuration: Configuration): Configuration {
  const { rollouts, targetingRules } = configuration
  const missing = base.rollouts.filter(
    ({ id }) =>
      findById(rollouts, id) === undefined && targetingRules.some((rule) => rule.rolloutId === id),
  )
  return missing.length === 0
    ? configuration
    : { ...configuration, rollouts: [...rollouts, ...missing] }
}

function inOrderOf(base: readonly Rule[], rules: readonly Rule[]): Rule[] {
  const position = new Map(base.map(({ id }, index) => [id, index]))
  const place = ({ id }: Rule) => position.get(id) ?? base.length
  return [...rules].sort((left, right) => place(left) - place(right))
}
