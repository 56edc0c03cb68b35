import { FlagError, jsonEquals } from '@ff/core'
import type { Segment, SegmentKeys } from '@ff/protocol/management'
import { completed } from '../changes/change-event.ts'
import { assertUnused, findDependentsOfSegment } from '../changes/dependents.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { listPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import { assertConditions } from './conditions.ts'
import { assertTrimmed } from './white-space.ts'

const MOST_KEYS_A_CALL = 10_000

/** The use cases of segments. */
export const segmentUseCases = defineUseCases({
  /** Returns one page of the project's segments, sorted by key. */
  listSegments: ({ storage, project: { id: projectId }, query }) =>
    listPage(storage, 'segment', { where: { projectId }, sortBy: 'key', hasCursors: true, query }),

  /** Returns a segment with the numbers of its listed keys. */
  getSegment: async ({ segment }) => segment,

  /** Creates a segment of a project. The segment applies in every environment of the project. */
  async createSegment({ writer, project, body }) {
    const rules = body.rules ?? []
    await assertConditions(writer.reader, project.id, [{ field: 'rules', conditions: rules }])
    const segment = await writer.insert('segment', {
      projectId: project.id,
      key: body.key,
      name: body.name ?? body.key,
      description: body.description ?? '',
      rules,
      logicalOp: body.logicalOp ?? 'AND',
      force: body.force ?? false,
      keyAttribute: body.keyAttribute ?? 'user.key',
      includedCount: 0,
      excludedCount: 0,
    })
    return completed('segment.created', { after: segment }, { field: 'rules' })
  },

  /** Changes a segment, with effect for every flag that refers to it. */
  async updateSegment({ writer, project, segment, body, expectedRevision }) {
    if (body.rules !== undefined && !jsonEquals(body.rules, segment.rules)) {
      const lists = [{ field: 'rules', conditions: body.rules, stored: segment.rules }]
      await assertConditions(writer.reader, project.id, lists)
    }
    const after = await writer.update('segment', segment, body, expectedRevision)
    if (after.keyAttribute !== segment.keyAttribute) assertNoKeysListed(segment)
    return completed('segment.updated', { before: segment, after }, { field: 'rules' })
  },

  /** Deletes a segment. Throws `CONFLICT` if a rule or another segment refers to it. */
  async deleteSegment({ writer, segment, expectedRevision }) {
    await writer.remove('segment', segment, expectedRevision)
    assertUnused('segment', await findDependentsOfSegment(writer.reader, segment))
    return completed('segment.deleted', { before: segment })
  },

  /**
   * Adds keys to one of the two lists and removes keys from the same list, in every environment.
   */
  async changeSegmentKeys({ writer, segment, body, expectedRevision }) {
    assertKeys(body)
    writer.assertRevision('segment', segment, expectedRevision)
    const { list, add: added = [], remove: removed = [] } = body
    assertTrimmed('add', added)
    const after = await writer.updateListedKeys(segment, { list, added, removed })
    return completed('segment.updated', { before: segment, after })
  },
})

function assertKeys({ add = [], remove = [] }: SegmentKeys): void {
  if (add.length + remove.length > MOST_KEYS_A_CALL) {
    throw invalid('', `At most ${MOST_KEYS_A_CALL} keys can be added and removed in total.`)
  }
  const added = new Set(add)
  const index = remove.findIndex((key) => added.has(key))
  if (index >= 0) throw invalid(`remove.${index}`, 'must not be added and removed in one call')
}

/**
 * Throws `CONFLICT` if the segment has listed keys. Listed keys are values of the previous key
 * attribute and would be wrong for another attribute.
 */
function assertNoKeysListed({ includedCount, excludedCount }: Segment): void {
  if (includedCount + excludedCount === 0) return
  const message = 'cannot change while keys are listed'
  const issues = [{ path: 'key_attribute', message }]
  throw new FlagError('CONFLICT', `key_attribute: ${message}`, { details: { issues } })
}
