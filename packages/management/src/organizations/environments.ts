import { FlagError } from '@ff/core'
import {
  type Environment,
  type EnvironmentChanges,
  MAX_ENVIRONMENT_INDEX,
  type NewEnvironment,
  type Project,
} from '@ff/protocol/management'
import type { KeptSince, Records } from '@ff/storage'
import { findByIdOrKey } from '../access/id-or-key.ts'
import { completed } from '../changes/change-event.ts'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { copyFlagConfiguration } from '../flags/copy-flag-configuration.ts'
import { insertFlagState } from '../flags/flag-states.ts'
import { initialOffVariationId, loadVariations } from '../flags/variations.ts'
import { listPage } from '../requests/pages.ts'
import { assertDistinct, invalid } from '../requests/validation.ts'

/** The use cases of environments. */
export const environmentUseCases = defineUseCases({
  /** Returns one page of a project's environments, sorted by `orderIndex`. */
  listEnvironments: ({ storage, project: { id: projectId }, query }) =>
    listPage(storage, 'environment', { where: { projectId }, sortBy: 'orderIndex', query }),

  /** Returns an environment. */
  getEnvironment: async ({ environment }) => environment,

  /**
   * Creates an environment. If `copyFrom` is set, every flag has the same results as in that
   * environment. Otherwise, every flag is active and serves its default variation.
   */
  async createEnvironment({ writer, project, body }) {
    const from = await findSource(writer.reader, project, body)
    const orderIndex = body.orderIndex ?? (await nextIndex(writer.reader, project))
    const environment = await insertEnvironment(writer, project, { ...body, orderIndex })
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
    const changes = { ...body, ...keptSince(before, body) }
    const after = await writer.update('environment', before, changes, expectedRevision)
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

interface PlacedEnvironment extends NewEnvironment {
  readonly orderIndex: number
  /** `true` for the default environment of a new project, which is also a production environment. */
  readonly isDefault?: boolean
}

/** Inserts only the environment record, without states of flags. */
export function insertEnvironment(
  writer: RecordWriter,
  project: Project,
  { isDefault = false, keptAttributes = [], ...fields }: PlacedEnvironment,
): Promise<Environment> {
  assertDistinct(keptAttributes, (index) => `kept_attributes.${index}`)
  return writer.insert('environment', {
    projectId: project.id,
    key: fields.key,
    name: fields.name ?? fields.key,
    isDefault,
    isProduction: fields.isProduction ?? isDefault,
    commentRequired: fields.commentRequired ?? false,
    orderIndex: fields.orderIndex,
    contextPrivacy: fields.contextPrivacy ?? 'minimal',
    keptAttributes,
    keptSince: keptAttributes.map(() => 1),
  })
}

/** Returns the position after all environments of a project. */
async function nextIndex(reader: Reader, { id: projectId }: Project): Promise<number> {
  const sort = { field: 'orderIndex', direction: 'desc' } as const
  const { data } = await reader.list('environment', { where: { projectId }, sort, limit: 1 })
  return Math.min((data[0]?.orderIndex ?? -1) + 1, MAX_ENVIRONMENT_INDEX)
}

/**
 * Returns the revision that added each attribute of a changed list, as a field of the environment.
 * An attribute that stays in the list keeps its revision.
 */
function keptSince(
  before: Records['environment'],
  { keptAttributes }: EnvironmentChanges,
): Partial<KeptSince> {
  if (keptAttributes === undefined) return {}
  assertDistinct(keptAttributes, (index) => `kept_attributes.${index}`)
  const known = new Map(before.keptAttributes.map((name, index) => [name, before.keptSince[index]]))
  return { keptSince: keptAttributes.map((name) => known.get(name) ?? before.revision + 1) }
}

/** Removes an environment with its SDK keys, flag states, rules, rollouts and observed contexts. */
export async function removeEnvironment(
  writer: RecordWriter,
  environment: Records['environment'],
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
