import * as z from 'zod'
import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { reorderCodec } from '../resources/order.ts'
import {
  newTargetingRuleCodec,
  targetingRuleChangesCodec,
  targetingRuleViewCodec,
} from '../resources/targeting-rule.ts'
import { id } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  flagStateParams,
  noQuery,
  ofFlagState,
  pageQuery,
  pathNames,
  reading,
} from './endpoint.ts'
import { FLAG_STATE } from './flag-states.ts'

/** What the schema of conditions does not show. */
export const CONDITION_NOTES =
  'Conditions whose value cannot mean what its author intends are refused: text that starts with ' +
  '`[` but is not a JSON array, a comma without brackets for `in` and `not_in`, an invalid network ' +
  'or several in one text for `in_cidr` and `not_in_cidr`, integers beyond 2^53 for operators that ' +
  'compare numbers, and `null` for operators other than `exists` and `not_exists`.'

const CREATE_NOTES =
  'A rule of the kind `custom`, which is the default, needs `conditions`; `[]` matches every context. ' +
  CONDITION_NOTES

const UPDATE_NOTES =
  '`conditions` cannot be `null`; `[]` matches every context. A rule whose `kind` changes from ' +
  '`segment` to `custom` loses its segment. Only conditions in the request are checked. ' +
  CONDITION_NOTES

const TARGETING_RULES = `${FLAG_STATE}/targeting-rules` as const
const targetingRuleParams = record({ ...ofFlagState, ruleId: id }, pathNames)

export const targetingRuleEndpoints = {
  listTargetingRules: {
    ...reading,
    path: TARGETING_RULES,
    params: flagStateParams,
    query: pageQuery,
    response: pageOf(targetingRuleViewCodec),
  },
  createTargetingRule: {
    ...creating,
    path: TARGETING_RULES,
    params: flagStateParams,
    body: newTargetingRuleCodec,
    notes: CREATE_NOTES,
    response: targetingRuleViewCodec,
  },
  reorderTargetingRules: {
    ...changing,
    path: `${TARGETING_RULES}/reorder`,
    params: flagStateParams,
    body: reorderCodec,
    response: z.array(targetingRuleViewCodec),
  },
  getTargetingRule: {
    ...reading,
    path: `${TARGETING_RULES}/{ruleId}`,
    params: targetingRuleParams,
    query: noQuery,
    response: targetingRuleViewCodec,
  },
  updateTargetingRule: {
    ...changing,
    path: `${TARGETING_RULES}/{ruleId}`,
    params: targetingRuleParams,
    body: targetingRuleChangesCodec,
    notes: UPDATE_NOTES,
    response: record({ rule: targetingRuleViewCodec, message: z.string() }, {}),
  },
  deleteTargetingRule: {
    ...deleting,
    path: `${TARGETING_RULES}/{ruleId}`,
    params: targetingRuleParams,
  },
} as const satisfies Record<string, Endpoint>
