import type { Flag, FlagView, ListedFlag, NewVariation } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { assertNotArchived } from '../changes/archived-flags.ts'
import { completed } from '../changes/change-event.ts'
import { assertUnused, findDependentsOfFlag } from '../changes/dependents.ts'
import type { Reader, RecordChanges, RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { assertDistinct, invalid } from '../requests/validation.ts'
import { insertFlagState } from './flag-states.ts'
import { initialOffVariationId, insertVariations, loadVariations } from './variations.ts'

type StoredFlag = Records['flag']

/** The variations of a new boolean flag if the request contains no variations. */
const BOOLEAN_VARIATIONS: readonly NewVariation[] = [
  { key: 'true', value: 'true' },
  { key: 'false', value: 'false', isDefault: true },
]

/** A timestamp earlier than that of any record. */
const BEFORE_ALL = '0000-01-01T00:00:00.000Z'

/** The use cases of flags. */
export const flagUseCases = defineUseCases({
  /** Returns one page of the project's flags, sorted by key. */
  async listFlags({ storage, project, query }) {
    const { tag, archived } = query
    const page = await listPage(storage, 'flag', {
      where: { projectId: project.id, ...(archived === false && { archivedAt: null }) },
      ...(archived === true && { range: { field: 'archivedAt', from: BEFORE_ALL } }),
      ...(tag !== undefined && { contains: { tags: [tag] } }),
      sortBy: 'key',
      hasCursors: true,
      query,
    })
    return { ...page, data: page.data.map(viewListed) }
  },

  /** Returns a flag with its variations. */
  getFlag: ({ storage, flag }) => viewFlag(storage, flag),

  /** Creates a flag with its variations. The flag is active in every environment of its project. */
  async createFlag({ writer, project, body }) {
    assertTags(body.tags)
    const flag = await writer.insert('flag', {
      projectId: project.id,
      key: body.key,
      name: body.name ?? body.key,
      description: body.description ?? '',
      type: body.type,
      tags: body.tags ?? [],
      clientVisible: body.clientVisible ?? project.newFlagsClientVisible,
      archivedAt: null,
      lastEvaluatedAt: null,
      ...{ summary: null, marks: [], unusedSince: writer.now },
    })
    const given = body.variations ?? defaultVariationsOf(flag)
    const variations = await insertVariations(writer, flag, given)
    const offVariationId = initialOffVariationId(flag, variations)
    const where = { projectId: project.id }
    const environments = await writer.reader.list('environment', { where })
    for (const environment of environments.data) {
      await insertFlagState(writer, { flag, environment, offVariationId })
    }
    const after = await viewFlag(writer.reader, flag)
    return completed('flag.created', { after }, { field: 'variations' })
  },

  /**
   * Changes a flag. Archiving removes the flag from all evaluation results. Throws `CONFLICT` if a
   * flag to archive is in use, and `INVALID_REQUEST` if the flag is archived and remains so.
   */
  async updateFlag({ writer, flag, body, expectedRevision }) {
    assertTags(body.tags)
    const { archived, ...fields } = body
    const changes: RecordChanges<'flag'> = {
      ...fields,
      ...(archived === true && { archivedAt: flag.archivedAt ?? writer.now }),
      ...(archived === false && { archivedAt: null }),
    }
    const after = await writer.update('flag', flag, changes, expectedRevision)
    const isChanged = after.revision !== flag.revision
    if (isChanged && after.archivedAt !== null) assertNotArchived(flag)
    if (flag.archivedAt === null && after.archivedAt !== null) {
      assertUnused('flag', await findDependentsOfFlag(writer.reader, flag))
    }
    const result = await viewFlag(writer.reader, after)
    return completed('flag.updated', { before: flag, after }, { result, field: 'archived' })
  },

  /** Deletes a flag and everything that belongs to it. Throws `CONFLICT` if the flag is in use. */
  async deleteFlag({ writer, flag, expectedRevision }) {
    writer.assertRevision('flag', flag, expectedRevision)
    assertUnused('flag', await findDependentsOfFlag(writer.reader, flag))
    await removeFlag(writer, flag)
    return completed('flag.deleted', { before: flag })
  },
})

/** Removes a flag and everything that belongs to it. Does not check for references to the flag. */
export async function removeFlag(writer: RecordWriter, flag: StoredFlag): Promise<void> {
  const { id: flagId } = flag
  await writer.remove('flag', flag)
  for (const kind of ['variation', 'flagState', 'targetingRule', 'rollout'] as const) {
    const parts = await writer.reader.list(kind, { where: { flagId } })
    for (const part of parts.data) await writer.remove(kind, part)
  }
}

function assertTags(tags: readonly string[] = []): void {
  assertDistinct(tags, (index) => `tags.${index}`)
}

function defaultVariationsOf({ type }: Flag): readonly NewVariation[] {
  if (type === 'boolean') return BOOLEAN_VARIATIONS
  throw invalid('variations', `is required for a flag of type ${type}`)
}

async function viewFlag(reader: Reader, flag: StoredFlag): Promise<FlagView> {
  return { ...viewListed(flag), variations: await loadVariations(reader, flag.id) }
}

function viewListed(stored: StoredFlag): ListedFlag {
  const { summary: _, marks: __, unusedSince: ___, ...flag } = stored
  return { ...flag, archived: flag.archivedAt !== null }
}
