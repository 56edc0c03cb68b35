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
    response: record({ rule: targetingRuleViewCodec, message: z.string() }, {}),
  },
  deleteTargetingRule: {
    ...deleting,
    path: `${TARGETING_RULES}/{ruleId}`,
    params: targetingRuleParams,
  },
} as const satisfies Record<string, Endpoint>
