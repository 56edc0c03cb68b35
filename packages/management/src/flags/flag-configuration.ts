import { compareCodePoints, FlagError } from '@ff/core'
import type {
  FlagConfigurationDocument as ConfigurationDocument,
  TargetingRule,
} from '@ff/protocol/management'
import { sha256 } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { notFound } from '../access/permissions.ts'
import type { Reader } from '../changes/record-writer.ts'

/** The records that determine the behaviour of a flag in one environment. */
export interface FlagConfiguration {
  readonly state: Records['flagState']
  /** The rules in the order of their evaluation. */
  readonly targetingRules: readonly Records['targetingRule'][]
  readonly rollouts: readonly Records['rollout'][]
}

/** The kinds of the records of a configuration. */
export type PartKind = 'flagState' | 'targetingRule' | 'rollout'

/**
 * Loads the configuration of a flag. Throws `NOT_FOUND` if the environment does not have the flag.
 */
export async function loadFlagConfiguration(
  reader: Reader,
  flagId: string,
  environmentId: string,
): Promise<FlagConfiguration> {
  const where = { flagId, environmentId }
  const [states, rules, rollouts] = await Promise.all([
    reader.list('flagState', { where }),
    reader.list('targetingRule', { where }),
    reader.list('rollout', { where }),
  ])
  const state = states.data[0]
  if (state === undefined) throw notFound('flag')
  return { state, targetingRules: [...rules.data].sort(inOrder), rollouts: rollouts.data }
}

/** Compares rules by the order of their evaluation, for `sort`. */
export function inOrder(a: TargetingRule, b: TargetingRule): number {
  return (
    a.orderIndex - b.orderIndex ||
    compareCodePoints(a.createdAt, b.createdAt) ||
    compareCodePoints(a.id, b.id)
  )
}

/** The maximum number of attempts to read a configuration while it changes. */
const MOST_ATTEMPTS = 10

/**
 * Loads a configuration outside a transaction. The parts are read one by one, so they are read
 * again until no part has changed in between. Throws `UNAVAILABLE` if they change all the time.
 */
export async function loadCommittedConfiguration(
  reader: Reader,
  flagId: string,
  environmentId: string,
): Promise<ConfigurationDocument> {
  let before: number | undefined
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const configuration = await loadFlagConfiguration(reader, flagId, environmentId)
    const document = await toDocument(configuration)
    if (document.revision === before) return document
    before = document.revision
  }
  throw new FlagError('UNAVAILABLE', 'The configuration changes all the time. Try again.')
}

/** Returns a configuration as the document of the management API. */
export async function toDocument(configuration: FlagConfiguration): Promise<ConfigurationDocument> {
  const { state, targetingRules, rollouts } = configuration
  return {
    state: stateSettings(state),
    targetingRules: targetingRules.map(ruleSettings),
    rollouts: rollouts.map(rolloutSettings),
    revision: await revisionOf(configuration),
  }
}

function stateSettings(state: Records['flagState']): ConfigurationDocument['state'] {
  const { isActive, defaultVariationId, offVariationId, targets, prerequisites } = state
  return { isActive, defaultVariationId, offVariationId, targets, prerequisites }
}

function ruleSettings(
  rule: Records['targetingRule'],
): ConfigurationDocument['targetingRules'][number] {
  const { id, name, kind, conditions, segmentId, variationId, rolloutId } = rule
  return { id, name, kind, conditions, segmentId, variationId, rolloutId }
}

function rolloutSettings(rollout: Records['rollout']): ConfigurationDocument['rollouts'][number] {
  const { id, name, strategy, bucketBy, salt, scheme, ...settings } = rollout
  const { variationId, percentage, variants } = settings
  const { targetPercentage, increment, intervalHours, startAt } = settings
  const gradual = { targetPercentage, increment, intervalHours, startAt }
  return {
    ...{ id, name, strategy, bucketBy, salt, scheme },
    ...{ variationId, percentage, variants, ...gradual },
  }
}

/** The number of hexadecimal digits of a revision. Its 48 bits have at most 15 decimal digits. */
const REVISION_DIGITS = 12

/**
 * Returns the revision of a configuration: a number that differs if a part is added, removed or
 * changed.
 */
async function revisionOf(configuration: FlagConfiguration): Promise<number> {
  const { state, targetingRules, rollouts } = configuration
  const parts = [state, ...targetingRules, ...rollouts].map(({ id, revision }) => [id, revision])
  const hash = await sha256(JSON.stringify(parts))
  return Number.parseInt(hash.slice(0, REVISION_DIGITS), 16)
}
