import { invoicesCodec } from '../resources/invoice.ts'
import { organizationCodec } from '../resources/organization.ts'
import { organizationUsageCodec, planChoiceCodec } from '../resources/subscription.ts'
import { changing, type Endpoint, noQuery, organizationParams, reading } from './endpoint.ts'
import { ORGANIZATION } from './organizations.ts'

export const subscriptionEndpoints = {
  getOrganizationUsage: {
    ...reading,
    path: `${ORGANIZATION}/usage`,
    params: organizationParams,
    query: noQuery,
    response: organizationUsageCodec,
  },
  setOrganizationPlan: {
    ...changing,
    permission: 'plans.write',
    path: `${ORGANIZATION}/plan`,
    params: organizationParams,
    body: planChoiceCodec,
    response: organizationCodec,
  },
  /** All of them at once: there are twelve a year. */
  listInvoices: {
    ...reading,
    permission: 'billing.read',
    path: '/billing/organizations/{orgId}/invoices',
    params: organizationParams,
    query: noQuery,
    response: invoicesCodec,
  },
} as const satisfies Record<string, Endpoint>
