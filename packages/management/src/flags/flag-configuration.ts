import { compareCodePoints } from '@ff/core'
import type { TargetingRule } from '@ff/protocol/management'
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

/** A change of one record: `before` is `null` for a new record, `after` for a removed one. */
export interface PartDifference<K extends PartKind = PartKind> {
  readonly kind: K
  readonly before: Records[K] | null
  readonly after: Records[K] | null
}

/**
 * Loads the configuration of a flag. Throws `NOT_FOUND` if the environment does not have the flag.
 */
export async function loadFlagConfiguration(
  reader: Reader,
  flagId: string,
  environmentId: string,
): Promise<FlagConfiguration> {
  const where = { flagId, environmentId }
  const state = (await reader.list('flagState', { where })).data[0]
  if (state === undefined) throw notFound('flag')
  const rules = (await reader.list('targetingRule', { where })).data
  const rollouts = (await reader.list('rollout', { where })).data
  return { state, targetingRules: [...rules].sort(inOrder), rollouts }
}

/** Compares rules by the order of their evaluation, for `sort`. */
export function inOrder(a: TargetingRule, b: TargetingRule): number {
  return (
    a.orderIndex - b.orderIndex ||
    compareCodePoints(a.createdAt, b.createdAt) ||
    compareCodePoints(a.id, b.id)
  )
}
