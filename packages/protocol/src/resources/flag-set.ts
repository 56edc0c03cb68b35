import type { FlagDefinition, FlagSetDefinition, SegmentDefinition } from '@ff/core'
import * as z from 'zod'
import { record, type Wire } from '../record.ts'
import { count } from '../scalars.ts'
import { condition } from './condition.ts'

/** What was published once is answered as it was, whatever today's rules are for its fields. */
const reference = z.string()
const listOf = <T extends z.ZodType>(item: T) => z.array(item).readonly()

const ruleNames = {
  orderIndex: 'order_index',
  createdAt: 'created_at',
  segmentId: 'segment_id',
  variationId: 'variation_id',
  rolloutId: 'rollout_id',
} as const

const rule = record(
  {
    id: reference,
    orderIndex: count,
    createdAt: z.string(),
    conditions: listOf(condition),
    segmentId: reference.nullable(),
    variationId: reference.nullable(),
    rolloutId: reference.nullable(),
  },
  ruleNames,
)

const rolloutBasis = { id: reference, bucketBy: z.string(), salt: z.string(), scheme: z.string() }

const rangeRollout = record(
  {
    ...rolloutBasis,
    strategy: z.enum(['percentage', 'variant']),
    ranges: listOf(
      record({ variationId: reference, from: count, to: count }, { variationId: 'variation_id' }),
    ),
    totalWeight: count.exactOptional(),
  },
  { bucketBy: 'bucket_by', totalWeight: 'total_weight' },
)

const gradualRollout = record(
  {
    ...rolloutBasis,
    strategy: z.literal('gradual'),
    variationId: reference,
    targetPercentage: z.number(),
    increment: z.number(),
    intervalHours: z.number(),
    startAt: z.string(),
  },
  {
    bucketBy: 'bucket_by',
    variationId: 'variation_id',
    targetPercentage: 'target_percentage',
    intervalHours: 'interval_hours',
    startAt: 'start_at',
  },
)

const target = record(
  { variationId: reference, kind: z.string(), keys: listOf(z.string()) },
  { variationId: 'variation_id' },
)

const prerequisite = record(
  { flagId: reference, variationIds: listOf(reference) },
  { flagId: 'flag_id', variationIds: 'variation_ids' },
)

const flag: Wire<FlagDefinition> = record(
  {
    id: reference,
    key: z.string(),
    type: z.enum(['boolean', 'string', 'number', 'json']),
    isActive: z.boolean(),
    clientVisible: z.boolean().exactOptional(),
    variations: listOf(z.strictObject({ id: reference, key: z.string(), value: z.string() })),
    defaultVariationId: reference,
    offVariationId: reference.nullable(),
    targets: listOf(target),
    prerequisites: listOf(prerequisite),
    rules: listOf(rule),
    rollouts: listOf(z.union([rangeRollout, gradualRollout])),
  },
  {
    isActive: 'is_active',
    clientVisible: 'client_visible',
    defaultVariationId: 'default_variation_id',
    offVariationId: 'off_variation_id',
  },
)

const segment: Wire<SegmentDefinition> = record(
  {
    id: reference,
    key: z.string(),
    rules: listOf(condition),
    logicalOp: z.enum(['AND', 'OR', 'NOT']),
    force: z.boolean(),
    keyAttribute: z.string(),
    included: listOf(z.string()),
    excluded: listOf(z.string()),
  },
  { logicalOp: 'logical_op', keyAttribute: 'key_attribute' },
)

/** Everything needed to evaluate one environment at one version, as it was published. */
export const flagSetCodec: Wire<FlagSetDefinition> = record(
  {
    version: count,
    clientVersion: count.exactOptional(),
    flags: listOf(flag),
    segments: listOf(segment),
  },
  { clientVersion: 'client_version' },
)
