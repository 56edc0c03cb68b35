import * as z from 'zod'
import { record } from '../record.ts'
import { count, id, name, recordFields, recordNames } from '../scalars.ts'
import { conditionInputs, conditions } from './condition.ts'
import { segmentCodec } from './segment.ts'

/** Decides which variation a matching context gets, in one environment of a flag. */
export type TargetingRule = z.output<typeof targetingRuleCodec>

/** A rule as it is answered, with its segment beside it. */
export type TargetingRuleView = z.output<typeof targetingRuleViewCodec>

const ruleKind = z.enum(['segment', 'custom'])

const fields = {
  id,
  flagId: id,
  environmentId: id,
  projectId: id,
  name,
  kind: ruleKind,
  conditions,
  segmentId: id.nullable(),
  variationId: id.nullable(),
  rolloutId: id.nullable(),
  orderIndex: count,
  ...recordFields,
}

const inputNames = {
  segmentId: 'segment_id',
  variationId: 'variation_id',
  rolloutId: 'rollout_id',
  orderIndex: 'order_index',
} as const

const names = {
  flagId: 'flag_id',
  environmentId: 'environment_id',
  projectId: 'project_id',
  ...inputNames,
  ...recordNames,
} as const

export const targetingRuleCodec = record(fields, names)

export const targetingRuleViewCodec = record(
  {
    ...fields,
    segmentName: z.string().optional(),
    segmentDescription: z.string().optional(),
    segmentKey: z.string().optional(),
    segmentLogicalOp: z.string().optional(),
    segmentRules: conditions.optional(),
    segment: segmentCodec.optional(),
  },
  {
    ...names,
    segmentName: 'segment_name',
    segmentDescription: 'segment_description',
    segmentKey: 'segment_key',
    segmentLogicalOp: 'segment_logical_op',
    segmentRules: 'segment_rules',
  },
)

const inputFields = {
  kind: ruleKind.optional(),
  conditions: conditionInputs.optional(),
  segmentId: id.nullable().optional(),
  variationId: id.nullable().optional(),
  rolloutId: id.nullable().optional(),
  orderIndex: count.optional(),
}

/** The kind is `segment` when a segment is given, else `custom`, unless it is said. */
export type NewTargetingRule = z.output<typeof newTargetingRuleCodec>

export const newTargetingRuleCodec = record({ name, ...inputFields }, inputNames)

export type TargetingRuleChanges = z.output<typeof targetingRuleChangesCodec>

export const targetingRuleChangesCodec = record(
  { name: name.optional(), ...inputFields },
  inputNames,
)
