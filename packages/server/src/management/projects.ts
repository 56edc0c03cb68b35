import type { Environment, NewProject, Project } from '@ff/protocol/management'
import { applyChange, changeEvent } from './apply-change.ts'
import { insertEnvironment } from './environments.ts'
import type { Management } from './management.ts'
import { loadOrganizationPath } from './paths.ts'

/** A project and the environments it begins with, the default one first. */
export interface CreatedProject {
  readonly project: Project
  readonly environments: readonly Environment[]
}

/** A new project with its two environments, `live` (the default) and `staging`. */
export async function createProject(
  management: Management,
  { params, body }: { readonly params: { readonly orgId: string }; readonly body: NewProject },
): Promise<CreatedProject> {
  const target = { permission: 'projects.write', load: loadOrganizationPath, params } as const
  return applyChange(management, target, async (writer, { organization }) => {
    const project = await writer.insert('project', {
      orgId: organization.id,
      key: body.key,
      name: body.name ?? body.key,
      description: body.description ?? '',
    })
    const live = await insertEnvironment(writer, project, {
      key: 'live',
      name: 'Live',
      isDefault: true,
    })
    const staging = await insertEnvironment(writer, project, { key: 'staging', name: 'Staging' })
    const event = changeEvent('project.created', project.id, { before: null, after: project })
    return { event, result: { project, environments: [live, staging] } }
  })
}
