import * as z from 'zod'
import { changing, reading } from '../endpoint.ts'
import { organizationCodec } from '../organizations/organization.ts'
import { ORGANIZATION } from '../paths.ts'
import { record } from '../record.ts'
import { count, id, timestamp } from '../scalars.ts'
import { invoicesCodec } from './invoice.ts'

/** The body of `setOrganizationPlan`. */
export type PlanChoice = z.output<typeof planChoiceCodec>

/** The codec of `PlanChoice`. */
export const planChoiceCodec = record({
  /** The id of a plan, or the provider's id of its product or price; `null` removes the plan. */
  planId: z.string().trim().min(1).max(255).nullable(),
  /** `true` starts a trial of the plan's `trial_days`. An organization can have one trial. */
  trial: z.boolean().optional(),
})

/** The usage of an organization and the limits of its plan; a limit is `null` if unlimited. */
export type OrganizationUsage = z.output<typeof organizationUsageCodec>

const limit = count.nullable()

/** The codec of `OrganizationUsage`. */
export const organizationUsageCodec = record({
  /**
   * The id of the plan; `null` if the organization has no plan. Without a plan, there are no
   * limits.
   */
  planId: id.nullable(),
  projectCount: count,
  maxProjects: limit,
  environmentCount: count,
  maxEnvironments: limit,
  flagCount: count,
  maxFlags: limit,
  /** The number of evaluation requests in the current period. */
  apiUsage: count,
  maxApiCalls: limit,
  /** The plan's limits of observed contexts; `null`: the limits of the installation. */
  maxObservedContexts: limit,
  maxObservedContextBytes: limit,
  graceBufferPct: count,
  /** `max_api_calls` increased by `grace_buffer_pct` percent. */
  freeApiCalls: limit,
  /** The number of started overage blocks in the current period. */
  overageBlocks: count,
  /** The price of the overage blocks in euro cents. */
  overageEurCents: count,
  /** The start of the current period or trial; `null` if there is neither. */
  periodStart: timestamp.nullable(),
  periodEnd: timestamp.nullable(),
  /** `over` if the trial ended without a paid plan. Changes are then refused. */
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
  /** The list has no pages, because there are only about twelve invoices a year. */
  listInvoices: reading('/billing/organizations/{orgId}/invoices', {
    permission: 'billing.read',
    response: invoicesCodec,
  }),
}
