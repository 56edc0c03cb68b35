import {
  endpoints,
  type NewOrganization,
  type Organization,
  type OrganizationChanges,
  type PageOf,
} from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import { loadInstallation, loadOrganizationPath } from '../access/organization-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import type { RecordChanges, RecordWriter } from '../changes/record-writer.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
import { endSessionsIfHomeless } from '../users/members.ts'
import { mergeMetadata } from './metadata.ts'
import { removeProject } from './projects.ts'

/** One page of the organizations that the actor may see, by name: its own, or to `platform` all. */
export async function listOrganizations(
  management: Management,
  { query }: Input<'listOrganizations', 'query'>,
): Promise<PageOf<Organization>> {
  const { permission } = endpoints.listOrganizations
  const { actor, storage } = management
  const where: { id?: string } = {}
  if (actor.role === 'platform') {
    await loadPermitted(management, { permission, load: loadInstallation, params: {} })
  } else {
    const params = { orgId: actor.orgId ?? '' }
    const request = { permission, load: loadOrganizationPath, params }
    where.id = (await loadPermitted(management, request)).organization.id
  }
  const { search } = query
  const found = await storage.list('organization', {
    where,
    ...(search !== undefined && { search }),
    sort: { field: 'name', direction: 'asc' },
    ...pagingOf(query),
  })
  return toPage(found, query)
}

/** An organization. */
export async function getOrganization(
  management: Management,
  { params }: Input<'getOrganization', 'params'>,
): Promise<Organization> {
  const { permission } = endpoints.getOrganization
  const request = { permission, load: loadOrganizationPath, params }
  return (await loadPermitted(management, request)).organization
}

/** A new organization; only the platform may found one. */
export async function createOrganization(
  management: Management,
  { body }: { readonly body: NewOrganization },
): Promise<Organization> {
  const { permission } = endpoints.createOrganization
  const request = { permission, load: loadInstallation, params: {} }
  return applyChange(management, request, async (writer) => {
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
    const fields = { before: null, after: organization }
    const event = changeEvent('organization.created', organization.id, fields)
    return { event, result: organization }
  })
}

/** Changes an organization's own details; of its metadata, only the entries that are named. */
export async function updateOrganization(
  management: Management,
  input: Input<'updateOrganization', 'params' | 'body' | 'expectedRevision'>,
): Promise<Organization> {
  const { params, body, expectedRevision } = input
  const { permission } = endpoints.updateOrganization
  const request = { permission, load: loadOrganizationPath, params }
  return applyChange(management, request, async (writer, { organization: before }) => {
    const changes = toRecordChanges(before, body)
    const after = await writer.update('organization', before, changes, expectedRevision)
    const event = changeEvent('organization.updated', before.id, { before, after })
    return { event, result: after }
  })
}

/** Deletes an organization with everything in it; its tokens and SDK keys end at once. */
export async function deleteOrganization(
  management: Management,
  { params, expectedRevision }: Input<'deleteOrganization', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteOrganization
  const request = { permission, load: loadOrganizationPath, params }
  return applyChange(management, request, async (writer, { organization }) => {
    writer.assertRevision('organization', organization, expectedRevision)
    await removeParts(writer, organization)
    await writer.remove('organization', organization)
    const fields = { before: organization, after: null }
    const event = changeEvent('organization.deleted', organization.id, fields)
    return { event, result: null }
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

function toRecordChanges(
  { metadata }: Organization,
  { metadataUpdates, metadataDeletes, ...fields }: OrganizationChanges,
): RecordChanges<'organization'> {
  return { ...fields, metadata: mergeMetadata(metadata, { metadataUpdates, metadataDeletes }) }
}
