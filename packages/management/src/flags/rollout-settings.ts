import { jsonEquals } from '@ff/core'
import { rangesAt } from '@ff/core/authoring'
import {
  type Rollout,
  type RolloutChanges,
  toSnakeCase,
  type Variation,
} from '@ff/protocol/management'
import { type Records, toRolloutDefinition } from '@ff/storage'
import { invalid } from '../requests/validation.ts'

/** The fields that each strategy has. */
const FIELDS_OF = {
  percentage: ['variationId', 'percentage'],
  variant: ['variants'],
  gradual: ['variationId', 'targetPercentage', 'increment', 'intervalHours', 'startAt'],
} as const satisfies Record<Rollout['strategy'], readonly (keyof Rollout)[]>

type StrategyField = (typeof FIELDS_OF)[Rollout['strategy']][number]

/** The strategy and its fields; the fields of other strategies are `null`. */
export type RolloutSettings = Pick<Rollout, 'strategy' | StrategyField>

/** Of a rollout that has only a strategy yet. */
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
 * The settings as they will be: what is given and, for the rest, what they are. With a strategy go
 * the fields that the new one does not have. A new gradual rollout starts now.
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

/** Throws `INVALID_REQUEST` for a field that the strategy lacks or does not have, and for unknown variations. */
export function assertRolloutSettings(
  settings: RolloutSettings,
  variations: readonly Variation[],
): void {
  const { strategy, variationId, variants } = settings
  for (const field of FIELDS) {
    const isGiven = settings[field] !== null
    if (isGiven === hasField(strategy, field)) continue
    const fault = isGiven
      ? `does not belong to strategy ${strategy}`
      : `is required when strategy is ${strategy}`
    throw invalid(toSnakeCase(field), fault)
  }
  const known = new Set(variations.map(({ id }) => id))
  if (variationId !== null && !known.has(variationId)) {
    throw invalid('variation_id', 'names no variation of this flag')
  }
  const listed = new Set<string>()
  for (const [index, variant] of (variants ?? []).entries()) {
    const field = `variants.${index}.variation_id`
    if (!known.has(variant.variationId)) throw invalid(field, 'names no variation of this flag')
    if (listed.has(variant.variationId)) throw invalid(field, 'is listed twice')
    listed.add(variant.variationId)
  }
}

/**
 * Returns the ranges that undo the last change, after a rollout was replaced as a whole: the replaced
 * ranges, if any context moves.
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
