import type { FlagDefinition, FlagSetDefinition, SegmentDefinition } from '@ff/core'
import * as z from 'zod'
import { count } from '../scalars.ts'
import { condition } from './condition.ts'

// The field names are those of `@ff/core`, so that `compileFlagSet` accepts a decoded flag set.
// Lengths are not limited, because versions that were published before a limit must stay readable.
const reference = z.string()
const listOf = <T extends z.ZodType>(item: T) => z.array(item).readonly()

const variation = z.strictObject({ id: reference, key: z.string(), value: z.string() })

const target = z.strictObject({
  variationId: reference,
  kind: z.string(),
  keys: listOf(z.string()),
})

const prerequisite = z.strictObject({ flagId: reference, variationIds: listOf(reference) })

const rule = z.strictObject({
  id: reference,
  orderIndex: count,
  createdAt: z.string(),
  conditions: listOf(condition),
  segmentId: reference.nullable(),
  variationId: reference.nullable(),
  rolloutId: reference.nullable(),
})

const rolloutBasis = { id: reference, bucketBy: z.string(), salt: z.string(), scheme: z.string() }

const rangeRollout = z.strictObject({
  ...rolloutBasis,
  strategy: z.enum(['percentage', 'variant']),
  ranges: listOf(z.strictObject({ variationId: reference, from: count, to: count })),
  totalWeight: count.exactOptional(),
})

const gradualRollout = z.strictObject({
  ...rolloutBasis,
  strategy: z.literal('gradual'),
  variationId: reference,
  targetPercentage: z.number(),
  increment: z.number(),
  intervalHours: z.number(),
  startAt: z.string(),
})

const flag = z.strictObject({
  id: reference,
  key: z.string(),
  type: z.enum(['boolean', 'string', 'number', 'json']),
  isActive: z.boolean(),
  clientVisible: z.boolean().exactOptional(),
  variations: listOf(variation),
  defaultVariationId: reference,
  offVariationId: reference.nullable(),
  targets: listOf(target),
  prerequisites: listOf(prerequisite),
  rules: listOf(rule),
  rollouts: listOf(z.union([rangeRollout, gradualRollout])),
}) satisfies z.ZodType<FlagDefinition>

const segment = z.strictObject({
  id: reference,
  key: z.string(),
  rules: listOf(condition),
  logicalOp: z.enum(['AND', 'OR', 'NOT']),
  force: z.boolean(),
  keyAttribute: z.string(),
  included: listOf(z.string()),
  excluded: listOf(z.string()),
}) satisfies z.ZodType<SegmentDefinition>

/**
 * The codec of a published flag set: everything needed to evaluate one environment at one version.
 * Its wire names are the field names of `@ff/core`.
 */
export const flagSetCodec = z.strictObject({
  version: count,
  clientVersion: count.exactOptional(),
  flags: listOf(flag),
  segments: listOf(segment),
}) satisfies z.ZodType<FlagSetDefinition>
