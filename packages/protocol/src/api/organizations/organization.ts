import * as z from 'zod'
import { changing, creating, deleting, reading, searchQuery } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ORGANIZATION } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { count, email, id, name, recordFields, text, timestamp } from '../scalars.ts'

/** An organization, which has projects, members and a plan. */
export type Organization = z.output<typeof organizationCodec>

const metadata = z.record(z.string(), z.json())
const metadataKey = text(256).min(1)

const fields = {
  id,
  name,
  billingEmail: email.nullable(),
  metadata,
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
}

/** The codec of `Organization`. */
export const organizationCodec = record(fields)

/** The body of `createOrganization`. */
export type NewOrganization = z.output<typeof newOrganizationCodec>

/** The codec of `NewOrganization`. */
export const newOrganizationCodec = record({ name, billingEmail: email.nullable().optional() })

/** The body of `updateOrganization`; absent fields stay unchanged. */
export type OrganizationChanges = z.output<typeof organizationChangesCodec>

/** The codec of `OrganizationChanges`. */
export const organizationChangesCodec = changesOf(fields, {
  name: name.optional(),
  billingEmail: email.nullable().optional(),
  /** Entries to add or replace. Other entries stay unchanged. */
  metadataUpdates: z.record(metadataKey, z.json()).optional(),
  /** Keys to remove. Unknown keys are ignored. */
  metadataDeletes: z.array(metadataKey).max(1000).optional(),
})

const ORGANIZATIONS = '/organizations'

/** The endpoints of organizations. */
export const organizationEndpoints = {
  /** Returns the organizations of the caller, or all organizations for the role `platform`. */
  listOrganizations: reading(ORGANIZATIONS, {
    query: searchQuery,
    response: pageOf(organizationCodec),
  }),
  createOrganization: creating(ORGANIZATIONS, {
    permission: 'organizations.create',
    body: newOrganizationCodec,
    response: organizationCodec,
  }),
  getOrganization: reading(ORGANIZATION, { response: organizationCodec }),
  updateOrganization: changing(ORGANIZATION, {
    permission: 'organization.write',
    body: organizationChangesCodec,
    response: organizationCodec,
  }),
  deleteOrganization: deleting(ORGANIZATION, { permission: 'organization.delete' }),
}
