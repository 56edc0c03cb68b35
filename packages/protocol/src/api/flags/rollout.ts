import * as z from 'zod'
import { changing, creating, deleting, pageQuery, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG_STATE } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import {
  attributeName,
  attributeReference,
  clearable,
  id,
  idOrKey,
  instant,
  name,
  recordFields,
  text,
  timestamp,
} from '../scalars.ts'

/** A rollout, which splits the contexts that match a rule among variations. */
export type Rollout = z.output<typeof rolloutCodec>

const rolloutStrategy = z.enum(['percentage', 'variant', 'gradual'])

/** A percentage from 0 to 100 with at most three decimals. */
export const percentage = z.number().min(0).max(100).multipleOf(0.001)

/** Returns the codec of variants, in which `reference` names the variations. */
function variantsOf(reference: typeof id | typeof idOrKey) {
  return z
    .array(record({ variationId: reference, weight: percentage }))
    .min(1)
    .max(100)
}

/** A range of buckets from `from` (inclusive) to `to` (exclusive). */
const bucketRange = record({
  variationId: id,
  from: z.int().min(0).max(100_000),
  to: z.int().min(0).max(100_000),
})

const intervalHours = z.number().positive().max(87_600)
/** An interval of at least 36 seconds, because live clients receive a change at each step. */
const intervalHoursInput = z.number().min(0.01).max(87_600)

/** The bucketing formulas: `ff` and the formulas of systems from which flags can be imported. */
export const BUCKETING_SCHEMES = [
  'ff',
  'unleash',
  'unleash-node',
  'launchdarkly',
  'growthbook-1',
  'growthbook-2',
  'flagd',
  'flagd-js',
  'configcat',
  'flagsmith',
  'posthog',
] as const

const saltInput = text(128)
const schemeInput = z.enum(BUCKETING_SCHEMES)

/** The fields of a rollout that users choose. */
export const rolloutSettings = {
  name,
  strategy: rolloutStrategy,
  bucketBy: attributeReference,
  salt: text(128),
  scheme: z.string().min(1).max(32),
  /** The served variation, for the strategies `percentage` and `gradual`. */
  variationId: id.nullable(),
  /** The percentage of contexts that receive the variation, for the strategy `percentage`. */
  percentage: percentage.nullable(),
  /** The variations with their weights, for the strategy `variant`. */
  variants: variantsOf(id).nullable(),
  /** For the strategy `gradual`: the percentage grows by `increment` every `intervalHours`. */
  targetPercentage: percentage.nullable(),
  increment: percentage.positive().nullable(),
  intervalHours: intervalHours.nullable(),
  startAt: timestamp.nullable(),
}

const fields = {
  id,
  flagId: id,
  environmentId: id,
  projectId: id,
  ...rolloutSettings,
  /** The current assignment of buckets; computed on each read for a gradual rollout. */
  ranges: z.array(bucketRange).max(1000),
  ...recordFields,
}

/** The codec of `Rollout`. */
export const rolloutCodec = record(fields)

/** A rollout after a change, with the percentage of buckets that changed their variation. */
export type ChangedRollout = z.output<typeof changedRolloutCodec>

/** The codec of `ChangedRollout`. */
export const changedRolloutCodec = record({ ...fields, movedPercentage: percentage })

/**
 * The body of `createRollout`. The fields of the strategy are required, and fields of other
 * strategies are refused. Variations are named by their ids or keys. Defaults: `bucketBy` is
 * `user.key`, `salt` is random, and `startAt` is the current time.
 */
export type NewRollout = z.output<typeof newRolloutCodec>

/** The codec of `NewRollout`. */
export const newRolloutCodec = record({
  name,
  strategy: rolloutStrategy,
  bucketBy: attributeName.optional(),
  salt: saltInput.optional(),
  scheme: schemeInput.optional(),
  variationId: idOrKey.optional(),
  percentage: percentage.optional(),
  variants: variantsOf(idOrKey).optional(),
  targetPercentage: percentage.optional(),
  increment: percentage.positive().optional(),
  intervalHours: intervalHoursInput.optional(),
  startAt: instant.optional(),
})

/**
 * The body of `updateRollout`; absent fields stay unchanged. If `strategy` changes, absent fields
 * of the old strategy are cleared.
 */
export type RolloutChanges = z.output<typeof rolloutChangesCodec>

/** The fields of a rollout in a request. Variations are named by their ids or keys. */
export const rolloutInputs = {
  name: name.optional(),
  strategy: rolloutStrategy.optional(),
  bucketBy: clearable(attributeName, 'user.key'),
  salt: saltInput.optional(),
  scheme: schemeInput.optional(),
  variationId: idOrKey.nullable().optional(),
  percentage: percentage.nullable().optional(),
  variants: variantsOf(idOrKey).nullable().optional(),
  targetPercentage: percentage.nullable().optional(),
  increment: percentage.positive().nullable().optional(),
  intervalHours: intervalHoursInput.nullable().optional(),
  startAt: instant.nullable().optional(),
}

/** The codec of `RolloutChanges`. */
export const rolloutChangesCodec = changesOf(fields, rolloutInputs)

const ROLLOUTS = `${FLAG_STATE}/rollouts` as const

/** The endpoints of rollouts. */
export const rolloutEndpoints = {
  listRollouts: reading(ROLLOUTS, { query: pageQuery, response: pageOf(rolloutCodec) }),
  createRollout: creating(ROLLOUTS, { body: newRolloutCodec, response: rolloutCodec }),
  getRollout: reading(`${ROLLOUTS}/{rolloutId}`, { response: rolloutCodec }),
  updateRollout: changing(`${ROLLOUTS}/{rolloutId}`, {
    body: rolloutChangesCodec,
    response: changedRolloutCodec,
  }),
  deleteRollout: deleting(`${ROLLOUTS}/{rolloutId}`),
}
