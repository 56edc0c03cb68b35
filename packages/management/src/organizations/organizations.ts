import type { NewOrganization, Organization, OrganizationChanges } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { organizationOf } from '../access/paths.ts'
import { withApiUsage } from '../changes/api-usage.ts'
import { type CompletedChange, completed } from '../changes/change-event.ts'
import type { RecordWriter } from '../changes/record-writer.ts'
import { defineQuery, defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import { endSessionsIfHomeless } from '../users/members.ts'
import { removeProject } from './projects.ts'

type Metadata = Organization['metadata']

const MOST_KEYS = 1000
const MOST_BYTES = 64 * 1024

const utf8 = new TextEncoder()

/** The use cases of organizations. */
export const organizationUseCases = {
  /**
   * Returns one page of organizations, sorted by name: all of them for an actor with the role
   * `platform`, otherwise only the organization of the actor.
   */
  listOrganizations: defineQuery('listOrganizations', {
    load: (_input, actor) => organizationOf(actor),
    async run({ storage, organization, query }) {
      const where = organization === null ? {} : { id: organization.id }
      const page = await listPage(storage, 'organization', { where, sortBy: 'name', query })
      return { ...page, data: await withApiUsage(storage, page.data) }
    },
  }),

  ...defineUseCases({
    /** Returns an organization. */
    async getOrganization({ storage, organization }) {
      const [loaded = organization] = await withApiUsage(storage, [organization])
      return loaded
    },

    /** Creates an organization. Requires the role `platform`. */
    async createOrganization({ writer, body }): Promise<CompletedChange<Organization>> {
      const organization = await insertOrganization(writer, body)
      return completed('organization.created', { after: organization })
    },

    /** Changes an organization. Metadata entries that the request does not name stay unchanged. */
    async updateOrganization({
      writer,
      organization,
      body,
      expectedRevision,
    }): Promise<CompletedChange<Organization>> {
      const before = await writer.addPendingCalls(organization)
      const { metadataUpdates, metadataDeletes, ...fields } = body
      const metadata = mergeMetadata(before.metadata, { metadataUpdates, metadataDeletes })
      const changes = { ...fields, metadata }
      const after = await writer.update('organization', before, changes, expectedRevision)
      return completed('organization.updated', { before, after })
    },

    /**
     * Deletes an organization with everything in it. Its access tokens and SDK keys become invalid
     * immediately.
     */
    async deleteOrganization({ writer, organization, expectedRevision }) {
      writer.assertRevision('organization', organization, expectedRevision)
      const before = await writer.addPendingCalls(organization)
      await removeParts(writer, before)
      await writer.remove('organization', before)
      return completed('organization.deleted', { before })
    },
  }),
}

/** Inserts an organization without a plan. */
export function insertOrganization(
  writer: RecordWriter,
  { name, billingEmail }: NewOrganization,
): Promise<Records['organization']> {
  return writer.insert('organization', {
    name,
    billingEmail: billingEmail ?? null,
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
    periodStart: null,
    periodDay: null,
    paymentCustomerId: null,
  })
}

async function removeParts(writer: RecordWriter, { id: orgId }: Organization): Promise<void> {
  const projects = await writer.reader.list('project', { where: { orgId } })
  for (const project of projects.data) await removeProject(writer, project)
  for (const kind of ['accessToken', 'member', 'webhook'] as const) {
    const parts = await writer.reader.list(kind, { where: { orgId } })
    for (const part of parts.data) {
      await writer.remove(kind, part)
      if ('userId' in part) await endSessionsIfHomeless(writer, part)
    }
  }
}

/**
 * Returns metadata with some entries set and others deleted. Throws `INVALID_REQUEST` if a key is
 * both set and deleted, or if the result grows beyond 1000 keys or 64 KiB of JSON.
 */
function mergeMetadata(
  metadata: Metadata,
  changes: Pick<OrganizationChanges, 'metadataUpdates' | 'metadataDeletes'>,
): Metadata {
  const { metadataUpdates: updates = {}, metadataDeletes: deletes = [] } = changes
  // Codecs drop this key, because assigning it would change the prototype of an object.
  if (Object.hasOwn(updates, '__proto__')) {
    throw invalid('metadata_updates', 'must not contain the key __proto__')
  }
  const doubled = deletes.findIndex((key) => Object.hasOwn(updates, key))
  if (doubled >= 0) throw invalid(`metadata_deletes.${doubled}`, 'is also in metadata_updates')
  const entries = new Map(Object.entries(metadata))
  for (const key of deletes) entries.delete(key)
  for (const [key, value] of Object.entries(updates)) entries.set(key, value)
  const merged = Object.fromEntries(entries)
  if (Object.keys(updates).length > 0) assertSize(merged)
  return merged
}

function assertSize(metadata: Metadata): void {
  if (Object.keys(metadata).length > MOST_KEYS) {
    throw invalid('metadata_updates', `would exceed the limit of ${MOST_KEYS} keys`)
  }
  if (utf8.encode(JSON.stringify(metadata)).byteLength > MOST_BYTES) {
    throw invalid('metadata_updates', `would exceed the limit of ${MOST_BYTES} bytes of JSON`)
  }
}
