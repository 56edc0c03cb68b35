import type { Environment, NewEnvironment, Project } from '@ff/protocol/management'
import { applyChange, changeEvent } from './apply-change.ts'
import { insertFlagState } from './flag-states.ts'
import type { Management } from './management.ts'
import { loadProjectPath } from './paths.ts'
import type { RecordWriter } from './record-writer.ts'

/** A new environment, in which every flag of the project is active with its default. */
export async function createEnvironment(
  management: Management,
  {
    params,
    body,
  }: { readonly params: { readonly projectId: string }; readonly body: NewEnvironment },
): Promise<Environment> {
  const target = { permission: 'projects.write', load: loadProjectPath, params } as const
  return applyChange(management, target, async (writer, { project }) => {
    const environment = await insertEnvironment(writer, project, body)
    const flags = await writer.reader.list('flag', { where: { projectId: project.id } })
    for (const flag of flags.data) await insertFlagState(writer, flag, environment)
    const fields = { before: null, after: environment }
    const event = changeEvent('environment.created', environment.id, fields)
    return { event, result: environment }
  })
}

/** Writes the record alone: a new project has no flags yet. */
export function insertEnvironment(
  writer: RecordWriter,
  project: Project,
  { key, name, contextPrivacy, isDefault }: NewEnvironment & { readonly isDefault?: boolean },
): Promise<Environment> {
  return writer.insert('environment', {
    projectId: project.id,
    key,
    name: name ?? key,
    isDefault: isDefault ?? false,
    contextPrivacy: contextPrivacy ?? 'minimal',
  })
}
