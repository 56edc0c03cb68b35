import { FlagError } from '@ff/core'
import type { Environment, NewEnvironment, Project } from '@ff/protocol/management'
import { findByIdOrKey } from '../access/id-or-key.ts'
import { completed } from '../changes/change-event.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { copyFlagConfiguration } from '../flags/copy-flag-configuration.ts'
import { insertFlagState } from '../flags/flag-states.ts'
import { initialOffVariationId, loadVariations } from '../flags/variations.ts'
import { listPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'

/** The use cases of environments. */
export const environmentUseCases = defineUseCases({
  /** Returns one page of a project's environments, sorted by key. */
  listEnvironments: ({ storage, project: { id: projectId }, query }) =>
    listPage(storage, 'environment', { where: { projectId }, sortBy: 'key', query }),

  /** Returns an environment. */
  getEnvironment: async ({ environment }) => environment,

  /**
   * Creates an environment. If `copyFrom` is set, every flag has the same results as in that
   * environment. Otherwise, every flag is active and serves its default variation.
   */
  async createEnvironment({ writer, project, body }) {
    const from = await findSource(writer.reader, project, body)
    const environment = await insertEnvironment(writer, project, body)
    const flags = await writer.reader.list('flag', { where: { projectId: project.id } })
    for (const flag of flags.data) {
      const variations = await loadVariations(writer.reader, flag.id)
      const offVariationId = initialOffVariationId(flag, variations)
      await insertFlagState(writer, { flag, environment, offVariationId })
      if (from) await copyFlagConfiguration(writer, { flag, from, to: environment })
    }
    const field = from ? 'copy_from' : ''
    return completed('environment.created', { after: environment }, { field })
  },

  /** Changes an environment. If it becomes the default, the previous default loses this role. */
  async updateEnvironment({ writer, project, environment: before, body, expectedRevision }) {
    if (body.isDefault === false && before.isDefault) {
      throw invalid('is_default', 'must stay true until another environment is the default')
    }
    if (body.isDefault === true && !before.isDefault) await yieldDefault(writer, project)
    const after = await writer.update('environment', before, body, expectedRevision)
    return completed('environment.updated', { before, after })
  },

  /**
   * Deletes an environment. Its SDK keys become invalid immediately. Throws `CONFLICT` if the
   * environment is the default environment.
   */
  async deleteEnvironment({ writer, environment, expectedRevision }) {
    writer.assertRevision('environment', environment, expectedRevision)
    if (environment.isDefault) {
      throw new FlagError(
        'CONFLICT',
        'The default environment cannot be deleted. Set another default first.',
      )
    }
    await removeEnvironment(writer, environment)
    return completed('environment.deleted', { before: environment })
  },
})

/** Inserts only the environment record, without states of flags. */
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

/** Removes an environment with its SDK keys, flag states, rules, rollouts and observed contexts. */
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
  const reference = { text: copyFrom, parent: { projectId: project.id } }
  const source = await findByIdOrKey(reader, 'environment', reference)
  if (source !== undefined) return source
  throw invalid('copy_from', 'must be the id or the key of an environment of this project')
}

async function yieldDefault(writer: RecordWriter, { id: projectId }: Project): Promise<void> {
  const where = { projectId, isDefault: true }
  const { data } = await writer.reader.list('environment', { where })
  for (const each of data) await writer.update('environment', each, { isDefault: false })
}
