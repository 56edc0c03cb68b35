import * as z from 'zod'
import { changing, reading } from '../endpoint.ts'
import { FLAG_STATE } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { count, id, name } from '../scalars.ts'
import { flagStateCodec, flagStateInputs, flagStateSettings } from './flag-state.ts'
import { percentage, rolloutCodec, rolloutInputs, rolloutSettings } from './rollout.ts'
import { targetingRuleCodec, targetingRuleInputs, targetingRuleSettings } from './targeting-rule.ts'

/** The maximum number of rules, and of rollouts, of a configuration in a request. */
const MOST_PARTS = 500

/**
 * The configuration of a flag in one environment as one document: its state, its rules in the order
 * of their evaluation, and its rollouts.
 */
export type FlagConfigurationDocument = z.output<typeof flagConfigurationCodec>

/** A number that identifies the revisions of all parts of a configuration. */
const revision = count

/** The codec of `FlagConfigurationDocument`. */
export const flagConfigurationCodec = record({
  state: record(flagStateSettings),
  targetingRules: z.array(record({ id, ...targetingRuleSettings })),
  rollouts: z.array(record({ id, ...rolloutSettings })),
  revision,
})

const inputs = {
  state: record({ ...flagStateInputs, isActive: z.boolean() }),
  /** The rules in the order of their evaluation. */
  targetingRules: z.array(record({ id, name, ...targetingRuleInputs })).max(MOST_PARTS),
  rollouts: z
    .array(record({ id, ...rolloutInputs, name, strategy: rolloutSettings.strategy }))
    .max(MOST_PARTS),
}

/**
 * A configuration in a request. It replaces the whole configuration. Ids of new rules and rollouts
 * are UUIDs that the caller chooses.
 */
export type FlagConfigurationInput = z.output<typeof flagConfigurationInputCodec>

/** The codec of `FlagConfigurationInput`. */
export const flagConfigurationInputCodec = changesOf({ revision }, inputs)

/**
 * The values by wire name: of the changed fields, or of all fields if the resource is new or
 * deleted.
 */
const changedFields = z.record(z.string(), z.json()).nullable()

/** A difference between two configurations, in one resource. */
export const configurationDifference = z.strictObject({
  resource: z.enum(['flag_state', 'targeting_rule', 'rollout']),
  /** The id of the resource in the environment that changes. */
  id,
  /** `null` if the resource is new. */
  before: changedFields,
  /** `null` if the resource is deleted. */
  after: changedFields,
})

/** The result of `updateFlagConfiguration`. */
export type ConfigurationUpdate = z.output<typeof configurationUpdateCodec>

/** The codec of `ConfigurationUpdate`. */
export const configurationUpdateCodec = record({
  configuration: flagConfigurationCodec,
  /** The version of the environment after the request. */
  version: count,
  differences: z.array(configurationDifference),
  /** The changed rollouts, with the percentage of buckets that changed their variation. */
  moved: z.array(record({ rolloutId: id, movedPercentage: percentage })),
})

/** The `data` of the 409 response to a change that is based on an earlier configuration. */
export type StaleConfiguration = z.output<typeof staleConfigurationCodec>

/** The codec of `StaleConfiguration`. */
export const staleConfigurationCodec = record({
  configuration: flagConfigurationCodec,
  version: count,
  /** The name of the last actor who changed the flag in the environment; `null` if not found. */
  changedBy: z.string().nullable(),
})

/** The codecs of the records of a configuration. */
export const configurationRecords = {
  state: flagStateCodec,
  targetingRules: z.array(targetingRuleCodec),
  rollouts: z.array(rolloutCodec),
}

/** The records of the configuration of a flag in an environment, for the audit log. */
export const configuredFlagCodec = record({ environmentId: id, ...configurationRecords })

const NOTES =
  'Replaces the whole configuration: rules are evaluated in the order of the list, and rules and ' +
  'rollouts that are missing are deleted. `If-Match` is required. If the configuration has ' +
  'changed since, the response is 409 with the current `configuration`, the `version` of the ' +
  'environment, and `changed_by`. A `rollout_id` must be the id of a rollout in `rollouts`. An ' +
  'existing rollout keeps its `bucket_by`, `salt`, `scheme` and `start_at` if they are absent; ' +
  'other absent fields have their defaults. With `dry_run`, nothing is written.'

const CONFIGURATION = `${FLAG_STATE}/configuration` as const

/** The endpoints of the configuration of a flag. */
export const flagConfigurationEndpoints = {
  getFlagConfiguration: reading(CONFIGURATION, { response: flagConfigurationCodec }),
  updateFlagConfiguration: changing(CONFIGURATION, {
    body: changesOf({ revision }, { ...inputs, dryRun: z.boolean().optional() }),
    maxBodyBytes: 768 * 1024,
    notes: NOTES,
    response: configurationUpdateCodec,
  }),
}
