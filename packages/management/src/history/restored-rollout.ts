import type { BucketRange, RolloutDefinition } from '@ff/core'
import type { Records } from '@ff/storage'
import type { RecordChanges } from '../changes/record-writer.ts'
import { NO_SETTINGS, previousRangesOf } from '../flags/rollout-settings.ts'

type StoredRollout = Records['rollout']

/** Buckets in one percent. */
const PERCENT = 1000

/**
 * The fields by which a rollout does again what was published of it. Only its ranges were
 * published: the weights are read from them, and a variation without any keeps the weight 0.
 * `fallback` stands in where nothing says any more which variation had the weight 0.
 */
export function restoredRollout(
  definition: RolloutDefinition,
  rollout: StoredRollout,
  { fallback, at }: { readonly fallback: string; readonly at: string },
): RecordChanges<'rollout'> {
  const { bucketBy, salt, scheme } = definition
  const settings = { ...NO_SETTINGS, ...settingsOf(definition, rollout, fallback) }
  const restored = { ...rollout, bucketBy, salt, scheme, ...settings }
  return { ...restored, previousRanges: previousRangesOf(rollout, restored, Date.parse(at)) }
}

function settingsOf(definition: RolloutDefinition, rollout: StoredRollout, fallback: string) {
  const { strategy } = definition
  if (strategy === 'gradual') {
    const { variationId, targetPercentage, increment, intervalHours, startAt } = definition
    return {
      ...{ strategy, variationId, targetPercentage, increment, intervalHours, startAt },
      ranges: [],
    }
  }
  const ranges = [...definition.ranges]
  const weights = weightsOf(ranges)
  if (strategy === 'percentage') {
    const [variationId = rollout.variationId ?? fallback] = weights.keys()
    return { strategy, variationId, percentage: weights.get(variationId) ?? 0, ranges }
  }
  const known = (rollout.variants ?? []).map(({ variationId }) => variationId)
  const listed = new Set([...known, ...weights.keys()])
  if (listed.size === 0) listed.add(fallback)
  const variants = [...listed].map((variationId) => {
    return { variationId, weight: weights.get(variationId) ?? 0 }
  })
  return { strategy, variants, ranges }
}

/** Percent by variation, in the order of the ranges. */
function weightsOf(ranges: readonly BucketRange[]): ReadonlyMap<string, number> {
  const buckets = new Map<string, number>()
  for (const { variationId, from, to } of ranges) {
    buckets.set(variationId, (buckets.get(variationId) ?? 0) + to - from)
  }
  return new Map([...buckets].map(([id, count]) => [id, count / PERCENT]))
}
