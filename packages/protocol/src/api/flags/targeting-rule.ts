import * as z from 'zod'
import { changing, creating, deleting, pageQuery, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG_STATE } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { count, id, idOrKey, name, recordFields } from '../scalars.ts'
import { CONDITION_NOTES, conditionInputs, conditions } from './condition.ts'
import { reorderCodec } from './reorder.ts'
import { segmentCodec } from './segment.ts'

/** A targeting rule of a flag in one environment. It serves a variation to matching contexts. */
export type TargetingRule = z.output<typeof targetingRuleCodec>

/** A targeting rule with its segment. */
export type TargetingRuleView = z.output<typeof targetingRuleViewCodec>

const ruleKind = z.enum(['segment', 'custom'])

/** The fields of a rule that users choose, except its position among the rules of its flag. */
export const targetingRuleSettings = {
  name,
  kind: ruleKind,
  conditions,
  segmentId: id.nullable(),
  variationId: id.nullable(),
  rolloutId: id.nullable(),
}

const fields = {
  id,
  flagId: id,
  environmentId: id,
  projectId: id,
  ...targetingRuleSettings,
  orderIndex: count,
  ...recordFields,
}

/** The codec of `TargetingRule`. */
export const targetingRuleCodec = record(fields)

const viewFields = {
  ...fields,
  segmentName: z.string().optional(),
  segmentDescription: z.string().optional(),
  segmentKey: z.string().optional(),
  segmentLogicalOp: z.string().optional(),
  segmentRules: conditions.optional(),
  segment: segmentCodec.optional(),
}

/** The codec of `TargetingRuleView`. */
export const targetingRuleViewCodec = record(viewFields)

/**
 * The optional fields of a rule in a request, except its position. The segment and the variation
 * are named by their ids or keys.
 */
export const targetingRuleInputs = {
  kind: ruleKind.optional(),
  conditions: conditionInputs.optional(),
  segmentId: idOrKey.nullable().optional(),
  variationId: idOrKey.nullable().optional(),
  rolloutId: id.nullable().optional(),
}

const inputFields = { ...targetingRuleInputs, orderIndex: count.optional() }

/**
 * The body of `createTargetingRule`. `kind` defaults to `segment` if `segmentId` is present,
 * otherwise to `custom`.
 */
export type NewTargetingRule = z.output<typeof newTargetingRuleCodec>

/** The codec of `NewTargetingRule`. */
export const newTargetingRuleCodec = record({ name, ...inputFields })

/** The body of `updateTargetingRule`; absent fields stay unchanged. */
export type TargetingRuleChanges = z.output<typeof targetingRuleChangesCodec>

/** The codec of `TargetingRuleChanges`. */
export const targetingRuleChangesCodec = changesOf(viewFields, {
  name: name.optional(),
  ...inputFields,
})

const CREATE_NOTES =
  '`kind` defaults to `segment` if `segment_id` is present, otherwise to `custom`. A rule of ' +
  'kind `custom` requires `conditions`; `[]` matches every context. ' +
  CONDITION_NOTES

const UPDATE_NOTES =
  '`conditions` must not be `null`; `[]` matches every context. If `kind` changes from `segment` ' +
  'to `custom`, `segment_id` is cleared. Stored conditions are not checked again. ' +
  CONDITION_NOTES

const TARGETING_RULES = `${FLAG_STATE}/targeting-rules` as const

/** The endpoints of targeting rules. */
export const targetingRuleEndpoints = {
  listTargetingRules: reading(TARGETING_RULES, {
    query: pageQuery,
    response: pageOf(targetingRuleViewCodec),
  }),
  createTargetingRule: creating(TARGETING_RULES, {
    body: newTargetingRuleCodec,
    notes: CREATE_NOTES,
    response: targetingRuleViewCodec,
  }),
  reorderTargetingRules: changing(`${TARGETING_RULES}/reorder`, {
    body: reorderCodec,
    response: z.array(targetingRuleViewCodec),
  }),
  getTargetingRule: reading(`${TARGETING_RULES}/{ruleId}`, { response: targetingRuleViewCodec }),
  updateTargetingRule: changing(`${TARGETING_RULES}/{ruleId}`, {
    body: targetingRuleChangesCodec,
    notes: UPDATE_NOTES,
    response: record({ rule: targetingRuleViewCodec, message: z.string() }),
  }),
  deleteTargetingRule: deleting(`${TARGETING_RULES}/{ruleId}`),
}
