import { FlagError } from '@ff/core'
import {
  type Environment,
  endpoints,
  type NewEnvironment,
  type PageOf,
  type Project,
} from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import { loadEnvironmentPath, loadProjectPath } from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { copyFlagConfiguration } from '../flags/copy-flag-configuration.ts'
import { insertFlagState } from '../flags/flag-states.ts'
import { initialOffVariationId, loadVariations } from '../flags/variations.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'

/** One page of a project's environments, by key. */
export async function listEnvironments(
  management: Management,
  { params, query }: Input<'listEnvironments', 'params' | 'query'>,
): Promise<PageOf<Environment>> {
  const { permission } = endpoints.listEnvironments
  const { project } = await loadPermitted(management, { permission, load: loadProjectPath, params })
  const { search } = query
  const found = await management.storage.list('environment', {
    where: { projectId: project.id },
    ...(search !== undefined && { search }),
    sort: { field: 'key', direction: 'asc' },
    ...pagingOf(query),
  })
  return toPage(found, query)
}

/** An environment. */
export async function getEnvironment(
  management: Management,
  { params }: Input<'getEnvironment', 'params'>,
): Promise<Environment> {
  const { permission } = endpoints.getEnvironment
  const request = { permission, load: loadEnvironmentPath, params }
  return (await loadPermitted(management, request)).environment
}

/**
 * Creates an environment in which every flag of the project is active and serves its default, or
 * evaluates as in the environment `copyFrom`.
 */
export async function createEnvironment(
  management: Management,
  {
    params,
    body,
  }: { readonly params: { readonly projectId: string }; readonly body: NewEnvironment },
): Promise<Environment> {
  const { permission } = endpoints.createEnvironment
  const request = { permission, load: loadProjectPath, params }
  return applyChange(management, request, async (writer, { project }) => {
    const from = await findSource(writer.reader, project, body)
    const environment = await insertEnvironment(writer, project, body)
    const flags = await writer.reader.list('flag', { where: { projectId: project.id } })
    for (const flag of flags.data) {
      const variations = await loadVariations(writer.reader, flag.id)
      const offVariationId = initialOffVariationId(flag, variations)
      await insertFlagState(writer, { flag, environment, offVariationId })
      if (from) await copyFlagConfiguration(writer, { flag, from, to: environment })
    }
    const fields = { before: null, after: environment }
    const event = changeEvent('environment.created', environment.id, fields)
    return { event, result: environment, field: from ? 'copy_from' : '' }
  })
}

/** Changes an environment. Making it the default takes that from the one that was. */
export async function updateEnvironment(
  management: Management,
  input: Input<'updateEnvironment', 'params' | 'body' | 'expectedRevision'>,
): Promise<Environment> {
  const { params, body, expectedRevision } = input
  const { permission } = endpoints.updateEnvironment
  const request = { permission, load: loadEnvironmentPath, params }
  return applyChange(management, request, async (writer, { project, environment: before }) => {
    if (body.isDefault === false && before.isDefault) {
      throw invalid('is_default', 'make another environment the default instead')
    }
    if (body.isDefault === true && !before.isDefault) await yieldDefault(writer, project)
    const after = await writer.update('environment', before, body, expectedRevision)
    const event = changeEvent('environment.updated', before.id, { before, after })
    return { event, result: after }
  })
}

/** Deletes an environment that is not the default one; its SDK keys end at once. */
export async function deleteEnvironment(
  management: Management,
  { params, expectedRevision }: Input<'deleteEnvironment', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteEnvironment
  const request = { permission, load: loadEnvironmentPath, params }
  return applyChange(management, request, async (writer, { environment }) => {
    writer.assertRevision('environment', environment, expectedRevision)
    if (environment.isDefault) {
      throw new FlagError('CONFLICT', 'Make another environment the default first.')
    }
    await removeEnvironment(writer, environment)
    const fields = { before: environment, after: null }
    const event = changeEvent('environment.deleted', environment.id, fields)
    return { event, result: null }
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

/** Removes the record and everything that belongs to it, SDK keys and observed contexts included. */
export async function removeEnvironment(
  writer: RecordWriter,
  environment: Environment,
): Promise<void> {
  const where = { environmentId: environment.id }
  for (const kind of ['sdkKey', 'targetingRule', 'rollout', 'flagState'] as const) {
    const parts = await writer.reader.list(kind, { where })
    for (const part of parts.data) await writer.remove(kind, part)
  }
  await writer.forgetContexts(where)
  await writer.remove('environment', environment)
}

async function findSource(
  reader: Reader,
  project: Project,
  { copyFrom }: NewEnvironment,
): Promise<Environment | undefined> {
  if (typeof copyFrom !== 'string') return undefined
  const source = await reader.find('environment', copyFrom)
  if (source?.projectId === project.id) return source
  throw invalid('copy_from', 'names no environment of this project')
}

async function yieldDefault(writer: RecordWriter, { id: projectId }: Project): Promise<void> {
  const where = { projectId, isDefault: true }
  const { data } = await writer.reader.list('environment', { where })
  for (const each of data) await writer.update('environment', each, { isDefault: false })
}
