import type { Records, StorageSession } from '@ff/storage'

type Organization = Records['organization']

/**
 * Returns organizations with `apiUsage` that includes the pending API calls of all instances, in the
 * same order. The store adds the calls of all these organizations with one query.
 */
export async function withApiUsage(
  reader: Pick<StorageSession, 'loadApiCalls'>,
  organizations: readonly Organization[],
): Promise<readonly Organization[]> {
  const pending = await reader.loadApiCalls(organizations.map(({ id }) => id))
  return organizations.map((organization) => {
    const calls = pending.get(organization.id) ?? 0
    return { ...organization, apiUsage: organization.apiUsage + calls }
  })
}

/**
 * Moves the pending API calls of an organization to its record, in a transaction with the lock of
 * the organization, and returns the record. The revision stays the same.
 */
export async function addPendingCalls(
  session: Pick<StorageSession, 'takeApiCalls' | 'update'>,
  organization: Organization,
): Promise<Organization> {
  const { id, apiUsage } = organization
  const calls = await session.takeApiCalls(id)
  if (calls === 0) return organization
  return session.update('organization', id, { apiUsage: apiUsage + calls })
}
