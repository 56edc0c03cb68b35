import * as z from 'zod'
import { changing, reading } from '../endpoint.ts'
import { organizationCodec } from '../organizations/organization.ts'
import { ORGANIZATION } from '../paths.ts'
import { record } from '../record.ts'
import { count, id, timestamp } from '../scalars.ts'
import { invoicesCodec } from './invoice.ts'

/** Which plan an organization is to have. */
export type PlanChoice = z.output<typeof planChoiceCodec>

/** The codec of `PlanChoice`. */
export const planChoiceCodec = record({
  /** A plan's id, or what the payment provider calls it or a price of it; `null`: no plan. */
  planId: z.string().trim().min(1).max(255).nullable(),
  /** To be tried for the plan's `trial_days` first, which an organization may once. */
  trial: z.boolean().optional(),
})

/** What an organization has and uses, beside what its plan allows; limits are `null` if unlimited. */
export type OrganizationUsage = z.output<typeof organizationUsageCodec>

const limit = count.nullable()

/** The codec of `OrganizationUsage`. */
export const organizationUsageCodec = record({
  /** `null` without a plan: then nothing is limited. */
  planId: id.nullable(),
  projectCount: count,
  maxProjects: limit,
  environmentCount: count,
  maxEnvironments: limit,
  flagCount: count,
  maxFlags: limit,
  /** Evaluation requests in the present period. */
  apiUsage: count,
  maxApiCalls: limit,
  graceBufferPct: count,
  /** `max_api_calls` and the grace. */
  freeApiCalls: limit,
  /** Started blocks beyond the free calls, so far. */
  overageBlocks: count,
  /** What they cost. */
  overageEurCents: count,
  /** The present period, or trial; `null` without one. */
  periodStart: timestamp.nullable(),
  periodEnd: timestamp.nullable(),
  /** `over`: no plan was taken after the trial, so that nothing can be changed. */
  trial: z.enum(['none', 'running', 'over']),
})

/** The endpoints of subscriptions. */
export const subscriptionEndpoints = {
  getOrganizationUsage: reading(`${ORGANIZATION}/usage`, { response: organizationUsageCodec }),
  setOrganizationPlan: changing(`${ORGANIZATION}/plan`, {
    permission: 'plans.write',
    body: planChoiceCodec,
    response: organizationCodec,
  }),
  /** All of them at once: there are twelve a year. */
  listInvoices: reading('/billing/organizations/{orgId}/invoices', {
    permission: 'billing.read',
    response: invoicesCodec,
  }),
}
