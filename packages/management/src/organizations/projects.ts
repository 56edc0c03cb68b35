import { compareCodePoints } from '@ff/core'
import type { Environment, Project, ProjectView } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { completed } from '../changes/change-event.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { removeFlag } from '../flags/flags.ts'
import { listPage } from '../requests/pages.ts'
import { insertEnvironment, removeEnvironment } from './environments.ts'

/** The use cases of projects. */
export const projectUseCases = defineUseCases({
  /** Returns one page of an organization's projects, sorted by key. */
  listProjects: ({ storage, organization: { id: orgId }, query }) =>
    listPage(storage, 'project', { where: { orgId }, sortBy: 'key', hasCursors: true, query }),

  /** Returns a project with its environments. */
  getProject: ({ storage, project }) => viewProject(storage, project),

  /** Creates a project with two environments: `live` (the default) and `staging`. */
  async createProject({ writer, organization, body }) {
    const project = await writer.insert('project', {
      orgId: organization.id,
      key: body.key,
      name: body.name ?? body.key,
      description: body.description ?? '',
      newFlagsClientVisible: body.newFlagsClientVisible ?? true,
    })
    await insertEnvironment(writer, project, {
      ...{ key: 'live', name: 'Live', isDefault: true, orderIndex: 0 },
    })
    await insertEnvironment(writer, project, {
      ...{ key: 'staging', name: 'Staging', orderIndex: 1 },
    })
    const result = await viewProject(writer.reader, project)
    return completed('project.created', { after: project }, { result })
  },

  /** Changes the fields of a project that the request contains. */
  async updateProject({ writer, project: before, body, expectedRevision }) {
    const after = await writer.update('project', before, body, expectedRevision)
    const result = await viewProject(writer.reader, after)
    return completed('project.updated', { before, after }, { result })
  },

  /** Deletes a project with everything in it. Its SDK keys become invalid immediately. */
  async deleteProject({ writer, project, expectedRevision }) {
    writer.assertRevision('project', project, expectedRevision)
    await removeProject(writer, project)
    return completed('project.deleted', { before: project })
  },
})

/** Removes a project with its environments, flags and segments. */
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

/** Returns a project with its environments in their order. */
export async function viewProject(reader: Reader, project: Project): Promise<ProjectView> {
  const found = await reader.list('environment', { where: { projectId: project.id } })
  const environments = [...found.data].sort(byDefaultAndIndex)
  return { ...project, environments: environments.map(viewEnvironment) }
}

function viewEnvironment({ keptSince: _, ...environment }: Records['environment']): Environment {
  return environment
}

function byDefaultAndIndex(a: Environment, b: Environment): number {
  return (
    Number(b.isDefault) - Number(a.isDefault) ||
    a.orderIndex - b.orderIndex ||
    compareCodePoints(a.id, b.id)
  )
}
