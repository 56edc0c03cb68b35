import { jsonEquals } from '@ff/core'
import { rangesAt } from '@ff/core/authoring'
import {
  type Rollout,
  type RolloutChanges,
  toSnakeCase,
  type Variation,
} from '@ff/protocol/management'
import { type Records, toRolloutDefinition } from '@ff/storage'
import { assertDistinct, invalid } from '../requests/validation.ts'
import { variationIdOf } from './variations.ts'

/** The fields that each strategy has. */
const FIELDS_OF = {
  percentage: ['variationId', 'percentage'],
  variant: ['variants'],
  gradual: ['variationId', 'targetPercentage', 'increment', 'intervalHours', 'startAt'],
} as const satisfies Record<Rollout['strategy'], readonly (keyof Rollout)[]>

type StrategyField = (typeof FIELDS_OF)[Rollout['strategy']][number]

/** The strategy and its fields; the fields of other strategies are `null`. */
export type RolloutSettings = Pick<Rollout, 'strategy' | StrategyField>

/** The settings of a rollout for which only the strategy is set. */
export const NO_SETTINGS: Omit<RolloutSettings, 'strategy'> = {
  variationId: null,
  percentage: null,
  variants: null,
  targetPercentage: null,
  increment: null,
  intervalHours: null,
  startAt: null,
}

const FIELDS = Object.keys(NO_SETTINGS) as readonly StrategyField[]

function hasField(strategy: Rollout['strategy'], field: StrategyField): boolean {
  const fields: readonly StrategyField[] = FIELDS_OF[strategy]
  return fields.includes(field)
}

/**
 * Returns the settings after a change. Fields that the change does not contain keep their values.
 * If the strategy changes, the fields that do not belong to the new strategy become `null`. By
 * default, a new gradual rollout starts at `now`.
 */
export function mergeRolloutSettings(
  is: RolloutSettings,
  given: RolloutChanges,
  now: string,
): RolloutSettings {
  const strategy = given.strategy ?? is.strategy
  const merged = FIELDS.map((field) => {
    const kept = hasField(strategy, field) ? is[field] : null
    const begun = field === 'startAt' && strategy === 'gradual' ? now : null
    return [field, given[field] === undefined ? (kept ?? begun) : given[field]]
  })
  return { strategy, ...(Object.fromEntries(merged) as Omit<RolloutSettings, 'strategy'>) }
}

/**
 * Returns the settings, in which the ids of variations replace their keys. Throws
 * `INVALID_REQUEST` if a field of the strategy is missing, if there is a field that the strategy
 * does not have, or if a variation is unknown or listed twice.
 */
export function checkRolloutSettings(
  settings: RolloutSettings,
  variations: readonly Variation[],
): RolloutSettings {
  const { strategy, variationId, variants } = settings
  for (const field of FIELDS) {
    const isGiven = settings[field] !== null
    if (isGiven === hasField(strategy, field)) continue
    const fault = isGiven
      ? `does not belong to strategy ${strategy}`
      : `is required when strategy is ${strategy}`
    throw invalid(toSnakeCase(field), fault)
  }
  const resolve = (text: string, field: string) => variationIdOf(variations, text, field)
  const resolved = variants?.map(({ variationId: text, weight }, index) => {
    return { variationId: resolve(text, `variants.${index}.variation_id`), weight }
  })
  const variationIds = (resolved ?? []).map((variant) => variant.variationId)
  assertDistinct(variationIds, (index) => `variants.${index}.variation_id`)
  return {
    ...settings,
    variationId: variationId === null ? null : resolve(variationId, 'variation_id'),
    variants: resolved ?? null,
  }
}

/**
 * Returns the previous ranges of a rollout, from which the last change can be undone, after the
 * rollout `before` was replaced by `after`. The result is the ranges of `before` if a context
 * changes its variation, otherwise the previous ranges of `before`.
 */
export function previousRangesOf(
  before: Records['rollout'],
  after: Records['rollout'],
  now: number,
): Records['rollout']['previousRanges'] {
  const replaced = rangesAt(toRolloutDefinition(before), now)
  const replacing = rangesAt(toRolloutDefinition(after), now)
  const isSame = jsonEquals(replaced as never, replacing as never)
  return isSame ? before.previousRanges : replaced
}
