import type { Organization, OrganizationChanges } from '@ff/protocol/management'
import { organizationOf } from '../access/paths.ts'
import { completed } from '../changes/change-event.ts'
import type { RecordChanges, RecordWriter } from '../changes/record-writer.ts'
import { defineChange, defineQuery } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { endSessionsIfHomeless } from '../users/members.ts'
import { mergeMetadata } from './metadata.ts'
import { removeProject } from './projects.ts'

/** The use cases of organizations. */
export const organizationUseCases = {
  /** One page of the organizations that the actor may see, by name: its own, or to `platform` all. */
  listOrganizations: defineQuery('listOrganizations', {
    load: (_input, actor) => organizationOf(actor),
    async run({ storage, organization, query }) {
      const where = organization === null ? {} : { id: organization.id }
      return listPage(storage, 'organization', {
        where,
        sortBy: 'name',
        query,
      })
    },
  }),

  /** An organization. */
  getOrganization: defineQuery('getOrganization', {
    run: async ({ organization }) => organization,
  }),

  /** A new organization; only the platform may found one. */
  createOrganization: defineChange('createOrganization', {
    async run({ writer, body }) {
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
  }),

  /** Changes an organization's own details; of its metadata, only the entries that are named. */
  updateOrganization: defineChange('updateOrganization', {
    async run({ writer, organization: before, body, expectedRevision }) {
      const changes = toRecordChanges(before, body)
      const after = await writer.update('organization', before, changes, expectedRevision)
      return completed('organization.updated', { before, after })
    },
  }),

  /** Deletes an organization with everything in it; its tokens and SDK keys end at once. */
  deleteOrganization: defineChange('deleteOrganization', {
    async run({ writer, organization, expectedRevision }) {
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

function toRecordChanges(
  { metadata }: Organization,
  { metadataUpdates, metadataDeletes, ...fields }: OrganizationChanges,
): RecordChanges<'organization'> {
  return { ...fields, metadata: mergeMetadata(metadata, { metadataUpdates, metadataDeletes }) }
}
