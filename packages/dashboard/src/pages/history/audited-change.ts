import { type AuditEvent, configuredFlagCodec } from '@ff/protocol/management'
import * as z from 'zod'
import type { Configuration } from '../../draft/configuration.ts'

/** What a publish changed. */
export interface AuditedChange {
  readonly flagId: string
  readonly before: Configuration
  readonly after: Configuration
}

type AuditedConfiguration = z.output<typeof configuredFlagCodec>

/**
 * Returns what a publish changed. `undefined` if the entry belongs to another event, or does not
 * contain both configurations.
 */
export function auditedChange({
  eventType,
  streamId,
  payload,
}: Pick<AuditEvent, 'eventType' | 'streamId' | 'payload'>): AuditedChange | undefined {
  if (eventType !== 'flag.configured') return undefined
  const before = decoded(payload['before'])
  const after = decoded(payload['after'])
  if (before === undefined || after === undefined) return undefined
  const flagId = streamId.replace(/^flag:/, '')
  return { flagId, before: configurationOf(before), after: configurationOf(after) }
}

function decoded(fields: unknown): AuditedConfiguration | undefined {
  return z.safeDecode(configuredFlagCodec, fields as never).data
}

/** Returns the configuration without the other fields of its records, such as their times. */
function configurationOf({ state, targetingRules, rollouts }: AuditedConfiguration): Configuration {
  const { isActive, defaultVariationId, offVariationId, targets, prerequisites } = state
  return {
    state: { isActive, defaultVariationId, offVariationId, targets, prerequisites },
    targetingRules: targetingRules.map(
      ({ id, name, kind, conditions, segmentId, variationId, rolloutId }) => {
        return { id, name, kind, conditions, segmentId, variationId, rolloutId }
      },
    ),
    rollouts: rollouts.map(({ id, name, strategy, bucketBy, salt, scheme, ...others }) => {
      const { variationId, percentage, variants } = others
      const { targetPercentage, increment, intervalHours, startAt } = others
      const shares = { variationId, percentage, variants }
      const steps = { targetPercentage, increment, intervalHours, startAt }
      return { id, name, strategy, bucketBy, salt, scheme, ...shares, ...steps }
    }),
    revision: 0,
  }
}
