import * as z from 'zod'
import { record } from '../record.ts'
import { count, id, name, recordFields, recordNames, timestamp } from '../scalars.ts'

/** Who pays, owns projects and has members. */
export type Organization = z.output<typeof organizationCodec>

const billingEmail = z.email().max(254)

export const organizationCodec = record(
  {
    id,
    name,
    billingEmail: billingEmail.nullable(),
    metadata: z.record(z.string(), z.json()),
    planId: id.nullable(),
    flagCount: count,
    projectCount: count,
    environmentCount: count,
    trialStartsAt: timestamp.nullable(),
    trialEndsAt: timestamp.nullable(),
    currentPeriodEnd: timestamp.nullable(),
    apiUsage: count,
    hasUsedPaidTrial: z.boolean(),
    ...recordFields,
  },
  {
    billingEmail: 'billing_email',
    planId: 'plan_id',
    flagCount: 'flag_count',
    projectCount: 'project_count',
    environmentCount: 'environment_count',
    trialStartsAt: 'trial_starts_at',
    trialEndsAt: 'trial_ends_at',
    currentPeriodEnd: 'current_period_end',
    apiUsage: 'api_usage',
    hasUsedPaidTrial: 'has_used_paid_trial',
    ...recordNames,
  },
)

export type NewOrganization = z.output<typeof newOrganizationCodec>

export const newOrganizationCodec = record(
  { name, billingEmail: billingEmail.nullable().optional() },
  { billingEmail: 'billing_email' },
)
