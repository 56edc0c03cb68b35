import * as z from 'zod'
import { record } from '../record.ts'
import { newPlanCodec, planChangesCodec, planCodec } from '../resources/plan.ts'
import { id } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  noParams,
  noQuery,
  reading,
} from './endpoint.ts'

const PLANS = '/plan-limits/plans'
const PLAN = `${PLANS}/{planId}` as const
const planParams = record({ planId: id }, {})
const permission = 'plans.write'

export const planEndpoints = {
  /** All of them at once: an installation has a handful. */
  listPlans: {
    ...reading,
    permission: 'plans.read',
    path: PLANS,
    params: noParams,
    query: noQuery,
    response: z.array(planCodec),
  },
  createPlan: {
    ...creating,
    permission,
    path: PLANS,
    params: noParams,
    body: newPlanCodec,
    response: planCodec,
  },
  getPlan: {
    ...reading,
    permission: 'plans.read',
    path: PLAN,
    params: planParams,
    query: noQuery,
    response: planCodec,
  },
  updatePlan: {
    ...changing,
    permission,
    path: PLAN,
    params: planParams,
    body: planChangesCodec,
    response: planCodec,
  },
  deletePlan: { ...deleting, permission, path: PLAN, params: planParams },
} as const satisfies Record<string, Endpoint>
