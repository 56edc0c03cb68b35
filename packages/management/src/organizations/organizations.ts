import type { Organization, OrganizationChanges } from '@ff/protocol/management'
import { organizationOf } from '../access/paths.ts'
import { completed } from '../changes/change-event.ts'
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
  /** One page of the organizations that the actor may see, by name: its own, or to `platform` all. */
  listOrganizations: defineQuery('listOrganizations', {
    load: (_input, actor) => organizationOf(actor),
    async run({ storage, organization, query }) {
      const where = organization === null ? {} : { id: organization.id }
      return listPage(storage, 'organization', { where, sortBy: 'name', query })
    },
  }),

  ...defineUseCases({
    /** An organization. */
    getOrganization: async ({ organization }) => organization,

    /** A new organization; only the platform may found one. */
    async createOrganization({ writer, body }) {
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
        periodStart: null,
        periodDay: null,
        paymentCustomerId: null,
      })
      return completed('organization.created', { after: organization })
    },

    /** Changes an organization's own details; of its metadata, only the entries that are named. */
    async updateOrganization({ writer, organization: before, body, expectedRevision }) {
      const { metadataUpdates, metadataDeletes, ...fields } = body
      const metadata = mergeMetadata(before.metadata, { metadataUpdates, metadataDeletes })
      const changes = { ...fields, metadata }
      const after = await writer.update('organization', before, changes, expectedRevision)
      return completed('organization.updated', { before, after })
    },

    /** Deletes an organization with everything in it; its tokens and SDK keys end at once. */
    async deleteOrganization({ writer, organization, expectedRevision }) {
      writer.assertRevision('organization', organization, expectedRevision)
      await removeParts(writer, organization)
      await writer.remove('organization', organization)
      return completed('organization.deleted', { before: organization })
    },
  }),
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
 * Metadata with some entries set and others removed. Throws `INVALID_REQUEST` for a key that is
 * to be set and removed at once, and when the whole grows beyond 1000 keys or 64 KiB of JSON.
 */
function mergeMetadata(
  metadata: Metadata,
  changes: Pick<OrganizationChanges, 'metadataUpdates' | 'metadataDeletes'>,
): Metadata {
  const { metadataUpdates: updates = {}, metadataDeletes: deletes = [] } = changes
  // An object must not be given such a member by assignment, and codecs leave it out.
  if (Object.hasOwn(updates, '__proto__')) throw invalid('metadata_updates', 'names __proto__')
  const doubled = deletes.findIndex((key) => Object.hasOwn(updates, key))
  if (doubled >= 0) throw invalid(`metadata_deletes.${doubled}`, 'is to be set as well')
  const entries = new Map(Object.entries(metadata))
  for (const key of deletes) entries.delete(key)
  for (const [key, value] of Object.entries(updates)) entries.set(key, value)
  const merged = Object.fromEntries(entries)
  if (Object.keys(updates).length > 0) assertSize(merged)
  return merged
}

function assertSize(metadata: Metadata): void {
  if (Object.keys(metadata).length > MOST_KEYS) {
    throw invalid('metadata_updates', `would make more than ${MOST_KEYS} keys`)
  }
  if (utf8.encode(JSON.stringify(metadata)).byteLength > MOST_BYTES) {
    throw invalid('metadata_updates', `would make more than ${MOST_BYTES} bytes of metadata`)
  }
}
