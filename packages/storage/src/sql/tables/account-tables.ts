import { recordColumns, type TablesOf } from './table.ts'

/** Tables of organizations, users and billing. */
export const ACCOUNT_TABLES: TablesOf<
  | 'organization'
  | 'plan'
  | 'invoice'
  | 'paymentEvent'
  | 'accessToken'
  | 'user'
  | 'member'
  | 'identity'
  | 'loginSession'
> = {
  organization: {
    name: 'ff_organization',
    columns: {
      id: 'text',
      name: 'text',
      billingEmail: 'text',
      metadata: 'json',
      planId: 'text',
      flagCount: 'integer',
      projectCount: 'integer',
      environmentCount: 'integer',
      trialStartsAt: 'text',
      trialEndsAt: 'text',
      currentPeriodEnd: 'text',
      apiUsage: 'integer',
      hasUsedPaidTrial: 'boolean',
      periodStart: 'text',
      periodDay: 'integer',
      paymentCustomerId: 'text',
      ...recordColumns,
    },
  },
  plan: {
    name: 'ff_plan',
    columns: {
      id: 'text',
      name: 'text',
      maxProjects: 'integer',
      maxFlags: 'integer',
      maxEnvironments: 'integer',
      maxApiCalls: 'integer',
      trialDays: 'integer',
      mostPopular: 'boolean',
      productLink: 'text',
      stripeProductId: 'text',
      stripePriceId: 'text',
      stripeMonthlyPriceId: 'text',
      stripeAnnualPriceId: 'text',
      overageRateEurCents: 'integer',
      overageBlockSize: 'integer',
      graceBufferPct: 'integer',
      ...recordColumns,
    },
  },
  invoice: {
    name: 'ff_invoice',
    columns: {
      id: 'text',
      orgId: 'text',
      stripeInvoiceId: 'text',
      stripeSubscriptionId: 'text',
      amountDue: 'integer',
      amountPaid: 'integer',
      currency: 'text',
      status: 'text',
      invoicePdf: 'text',
      hostedInvoiceUrl: 'text',
      periodStart: 'text',
      periodEnd: 'text',
      dueDate: 'text',
      paidAt: 'text',
      metadata: 'json',
      ...recordColumns,
    },
  },
  paymentEvent: {
    name: 'ff_payment_event',
    columns: {
      id: 'text',
      customerId: 'text',
      eventId: 'text',
      occurredAt: 'text',
      subject: 'json',
      settledEventId: 'text',
      receivedAt: 'text',
    },
  },
  accessToken: {
    name: 'ff_access_token',
    columns: {
      id: 'text',
      orgId: 'text',
      name: 'text',
      role: 'text',
      prefix: 'text',
      hash: 'text',
      expiresAt: 'text',
      lastUsedAt: 'text',
      createdBy: 'text',
      ...recordColumns,
    },
  },
  user: {
    name: 'ff_user',
    columns: {
      id: 'text',
      email: 'text',
      name: 'text',
      passwordHash: 'text',
      role: 'text',
      ...recordColumns,
    },
  },
  member: {
    name: 'ff_member',
    columns: {
      id: 'text',
      userId: 'text',
      orgId: 'text',
      email: 'text',
      name: 'text',
      role: 'text',
      acceptedAt: 'text',
      linkHash: 'text',
      linkExpiresAt: 'text',
      ...recordColumns,
    },
  },
  identity: {
    name: 'ff_identity',
    columns: {
      id: 'text',
      userId: 'text',
      issuer: 'text',
      subject: 'text',
      ...recordColumns,
    },
  },
  loginSession: {
    name: 'ff_login_session',
    columns: {
      id: 'text',
      hash: 'text',
      userId: 'text',
      method: 'text',
      expiresAt: 'text',
      lastUsedAt: 'text',
      ...recordColumns,
    },
  },
}
