import { compareCodePoints } from '@ff/core'
import {
  type Environment,
  endpoints,
  type NewProject,
  type PageOf,
  type Project,
  type ProjectView,
} from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import { loadOrganizationPath } from '../access/organization-paths.ts'
import { loadProjectPath } from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { removeFlag } from '../flags/flags.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
import { insertEnvironment, removeEnvironment } from './environments.ts'

/** One page of an organization's projects, by key. */
export async function listProjects(
  management: Management,
  { params, query }: Input<'listProjects', 'params' | 'query'>,
): Promise<PageOf<Project>> {
  const { permission } = endpoints.listProjects
  const request = { permission, load: loadOrganizationPath, params }
  const { organization } = await loadPermitted(management, request)
  const { search } = query
  const found = await management.storage.list('project', {
    where: { orgId: organization.id },
    ...(search !== undefined && { search }),
    sort: { field: 'key', direction: 'asc' },
    ...pagingOf(query),
  })
  return toPage(found, query)
}

/** A project with its environments. */
export async function getProject(
  management: Management,
  { params }: Input<'getProject', 'params'>,
): Promise<ProjectView> {
  const { permission } = endpoints.getProject
  const request = { permission, load: loadProjectPath, params }
  return viewProject(management.storage, (await loadPermitted(management, request)).project)
}

/** A new project with its two environments, `live` (the default) and `staging`. */
export async function createProject(
  management: Management,
  { params, body }: { readonly params: { readonly orgId: string }; readonly body: NewProject },
): Promise<ProjectView> {
  const { permission } = endpoints.createProject
  const request = { permission, load: loadOrganizationPath, params }
  return applyChange(management, request, async (writer, { organization }) => {
    const project = await writer.insert('project', {
      orgId: organization.id,
      key: body.key,
      name: body.name ?? body.key,
      description: body.description ?? '',
      newFlagsClientVisible: body.newFlagsClientVisible ?? true,
    })
    await insertEnvironment(writer, project, { key: 'live', name: 'Live', isDefault: true })
    await insertEnvironment(writer, project, { key: 'staging', name: 'Staging' })
    const event = changeEvent('project.created', project.id, { before: null, after: project })
    return { event, result: await viewProject(writer.reader, project) }
  })
}

/** Changes a project's name or description. */
export async function updateProject(
  management: Management,
  input: Input<'updateProject', 'params' | 'body' | 'expectedRevision'>,
): Promise<ProjectView> {
  const { params, body, expectedRevision } = input
  const { permission } = endpoints.updateProject
  const request = { permission, load: loadProjectPath, params }
  return applyChange(management, request, async (writer, { project: before }) => {
    const after = await writer.update('project', before, body, expectedRevision)
    const event = changeEvent('project.updated', before.id, { before, after })
    return { event, result: await viewProject(writer.reader, after) }
  })
}

/** Deletes a project with everything in it; its SDK keys end at once. */
export async function deleteProject(
  management: Management,
  { params, expectedRevision }: Input<'deleteProject', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteProject
  const request = { permission, load: loadProjectPath, params }
  return applyChange(management, request, async (writer, { project }) => {
    writer.assertRevision('project', project, expectedRevision)
    await removeProject(writer, project)
    const event = changeEvent('project.deleted', project.id, { before: project, after: null })
    return { event, result: null }
  })
}

/** Removes the record and everything that belongs to it. */
export async function removeProject(writer: RecordWriter, project: Project): Promise<void> {
  const where = { projectId: project.id }
  const environments = await writer.reader.list('environment', { where })
  for (const environment of environments.data) await removeEnvironment(writer, environment)
  const flags = await writer.reader.list('flag', { where })
  for (const flag of flags.data) await removeFlag(writer, flag)
  const segments = await writer.reader.list('segment', { where })
  for (const segment of segments.data) await writer.remove('segment', segment)
  await writer.remove('project', project)
}

async function viewProject(reader: Reader, project: Project): Promise<ProjectView> {
  const found = await reader.list('environment', { where: { projectId: project.id } })
  return { ...project, environments: [...found.data].sort(byDefaultAndKey) }
}

function byDefaultAndKey(a: Environment, b: Environment): number {
  return Number(b.isDefault) - Number(a.isDefault) || compareCodePoints(a.key, b.key)
}
