import * as z from 'zod'
import { changing, creating, deleting, pageQuery, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG_STATE } from '../paths.ts'
import { record } from '../record.ts'
import {
  attributeReference,
  clearable,
  id,
  instant,
  name,
  recordFields,
  text,
  timestamp,
} from '../scalars.ts'

/** How a rule splits the contexts it matches among variations. */
export type Rollout = z.output<typeof rolloutCodec>

const rolloutStrategy = z.enum(['percentage', 'variant', 'gradual'])

/** Percent with at most three decimals. */
export const percentage = z.number().min(0).max(100).multipleOf(0.001)

const variantWeight = record({ variationId: id, weight: percentage })

/** Half-open, in buckets 0…100 000. */
const bucketRange = record({
  variationId: id,
  from: z.int().min(0).max(100_000),
  to: z.int().min(0).max(100_000),
})

const variants = z.array(variantWeight).min(1).max(100)
const intervalHours = z.number().positive().max(87_600)
/** At least 36 seconds: each step is a change of the environment for connected clients. */
const intervalHoursInput = z.number().min(0.01).max(87_600)

/** Where bucketing formulas come from: our own, and the other systems whose flags can be imported. */
const BUCKETING_SCHEMES = [
  'ff',
  'unleash',
  'launchdarkly',
  'growthbook-1',
  'growthbook-2',
  'flagd',
  'configcat',
  'flagsmith',
  'posthog',
] as const

const saltInput = text(128)
const schemeInput = z.enum(BUCKETING_SCHEMES)

const fields = {
  id,
  flagId: id,
  environmentId: id,
  projectId: id,
  name,
  strategy: rolloutStrategy,
  bucketBy: attributeReference,
  salt: text(128),
  scheme: z.string().min(1).max(32),
  /** Strategies `percentage` and `gradual`. */
  variationId: id.nullable(),
  /** Strategy `percentage`. */
  percentage: percentage.nullable(),
  /** Strategy `variant`. */
  variants: variants.nullable(),
  /** Strategy `gradual`: the share grows by `increment` every `intervalHours`. */
  targetPercentage: percentage.nullable(),
  increment: percentage.positive().nullable(),
  intervalHours: intervalHours.nullable(),
  startAt: timestamp.nullable(),
  /** The present assignment of buckets; computed on each read for a gradual rollout. */
  ranges: z.array(bucketRange).max(1000),
  ...recordFields,
}

/** The codec of `Rollout`. */
export const rolloutCodec = record(fields)

/** A rollout after a change, and the percentage of users that the change has moved. */
export type ChangedRollout = z.output<typeof changedRolloutCodec>

/** The codec of `ChangedRollout`. */
export const changedRolloutCodec = record({ ...fields, movedPercentage: percentage })

/**
 * What each strategy needs must be there and what belongs to another must not. Buckets by
 * `user.key` with a random salt unless said otherwise; a gradual one starts now.
 */
export type NewRollout = z.output<typeof newRolloutCodec>

/** The codec of `NewRollout`. */
export const newRolloutCodec = record({
  name,
  strategy: rolloutStrategy,
  bucketBy: attributeReference.optional(),
  salt: saltInput.optional(),
  scheme: schemeInput.optional(),
  variationId: id.optional(),
  percentage: percentage.optional(),
  variants: variants.optional(),
  targetPercentage: percentage.optional(),
  increment: percentage.positive().optional(),
  intervalHours: intervalHoursInput.optional(),
  startAt: instant.optional(),
})

/** Fields of a strategy that is given up are cleared with it, unless they are given. */
export type RolloutChanges = z.output<typeof rolloutChangesCodec>

/** The codec of `RolloutChanges`. */
export const rolloutChangesCodec = record({
  name: name.optional(),
  strategy: rolloutStrategy.optional(),
  bucketBy: clearable(attributeReference, 'user.key'),
  salt: saltInput.optional(),
  scheme: schemeInput.optional(),
  variationId: id.nullable().optional(),
  percentage: percentage.nullable().optional(),
  variants: variants.nullable().optional(),
  targetPercentage: percentage.nullable().optional(),
  increment: percentage.positive().nullable().optional(),
  intervalHours: intervalHoursInput.nullable().optional(),
  startAt: instant.nullable().optional(),
})

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
