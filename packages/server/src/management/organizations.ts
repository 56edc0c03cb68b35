import type { NewOrganization, Organization } from '@ff/protocol/management'
import { applyChange, changeEvent } from './apply-change.ts'
import type { Management } from './management.ts'
import { loadInstallation } from './paths.ts'

/** A new organization; only the platform may found one. */
export async function createOrganization(
  management: Management,
  { body }: { readonly body: NewOrganization },
): Promise<Organization> {
  const target = { permission: 'organizations.create', load: loadInstallation, params: {} } as const
  return applyChange(management, target, async (writer) => {
    const organization = await writer.insert('organization', {
      name: body.name,
      billingEmail: body.billingEmail ?? null,
      metadata: {},
      planId: null,
      flagCount: 0,
      projectCount: 0,
      environmentCount: 0,
      trialStartsAt: null,
      trialEndsAt: null,
      currentPeriodEnd: null,
      apiUsage: 0,
      hasUsedPaidTrial: false,
    })
    const fields = { before: null, after: organization }
    const event = changeEvent('organization.created', organization.id, fields)
    return { event, result: organization }
  })
}
