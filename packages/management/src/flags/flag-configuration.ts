import { compareCodePoints } from '@ff/core'
import type { TargetingRule } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { notFound } from '../access/permissions.ts'
import type { Reader } from '../changes/record-writer.ts'

/** The records that say how a flag behaves in one environment. */
export interface FlagConfiguration {
  readonly state: Records['flagState']
  /** In the order in which they are tried. */
  readonly targetingRules: readonly Records['targetingRule'][]
  readonly rollouts: readonly Records['rollout'][]
}

export type PartKind = 'flagState' | 'targetingRule' | 'rollout'

/** One record of a configuration that changes: `before` is null for a new one, `after` at its end. */
export interface PartDifference<K extends PartKind = PartKind> {
  readonly kind: K
  readonly before: Records[K] | null
  readonly after: Records[K] | null
}

/** Throws `NOT_FOUND` when the flag is not in the environment. */
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

/** Rules by the order in which they are tried. */
export function inOrder(a: TargetingRule, b: TargetingRule): number {
  return (
    a.orderIndex - b.orderIndex ||
    compareCodePoints(a.createdAt, b.createdAt) ||
    compareCodePoints(a.id, b.id)
  )
}
