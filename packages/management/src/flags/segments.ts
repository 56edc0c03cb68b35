import { FlagError } from '@ff/core'
import { endpoints, type PageOf, type Segment, type SegmentKeys } from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import { loadProjectPath, loadSegmentPath } from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import { assertUnused, findDependentsOfSegment } from '../changes/dependents.ts'
import type { Management } from '../changes/management.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
import { invalid } from '../requests/validation.ts'
import { assertConditions } from './conditions.ts'

const MOST_KEYS_A_CALL = 10_000

/** One page of the project's segments, by key. */
export async function listSegments(
  management: Management,
  { params, query }: Input<'listSegments', 'params' | 'query'>,
): Promise<PageOf<Segment>> {
  const { permission } = endpoints.listSegments
  const { project } = await loadPermitted(management, { permission, load: loadProjectPath, params })
  const found = await management.storage.list('segment', {
    where: { projectId: project.id },
    sort: { field: 'key', direction: 'asc' },
    ...pagingOf(query),
  })
  return toPage(found, query)
}

/** One segment, with how many keys it lists. */
export async function getSegment(
  management: Management,
  { params }: Input<'getSegment', 'params'>,
): Promise<Segment> {
  const { permission } = endpoints.getSegment
  const request = { permission, load: loadSegmentPath, params }
  return (await loadPermitted(management, request)).segment
}

/** A new segment, known in every environment of its project. */
export async function createSegment(
  management: Management,
  { params, body }: Input<'createSegment', 'params' | 'body'>,
): Promise<Segment> {
  const { permission } = endpoints.createSegment
  const request = { permission, load: loadProjectPath, params }
  return applyChange(management, request, async (writer, { project }) => {
    const rules = body.rules ?? []
    await assertConditions(writer.reader, project.id, rules, 'rules')
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
    const event = changeEvent('segment.created', segment.id, { before: null, after: segment })
    return { event, result: segment, field: 'rules' }
  })
}

/** Changes a segment; every flag that refers to it follows. */
export async function updateSegment(
  management: Management,
  input: Input<'updateSegment', 'params' | 'body' | 'expectedRevision'>,
): Promise<Segment> {
  const { params, body, expectedRevision } = input
  const { permission } = endpoints.updateSegment
  const request = { permission, load: loadSegmentPath, params }
  return applyChange(management, request, async (writer, { project, segment }) => {
    if (body.rules !== undefined) {
      await assertConditions(writer.reader, project.id, body.rules, 'rules')
    }
    const after = await writer.update('segment', segment, body, expectedRevision)
    if (after.keyAttribute !== segment.keyAttribute) assertNobodyListed(segment)
    const event = changeEvent('segment.updated', segment.id, { before: segment, after })
    return { event, result: after, field: 'rules' }
  })
}

/** Deletes a segment that nothing refers to. */
export async function deleteSegment(
  management: Management,
  { params, expectedRevision }: Input<'deleteSegment', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteSegment
  const request = { permission, load: loadSegmentPath, params }
  return applyChange(management, request, async (writer, { segment }) => {
    writer.assertRevision('segment', segment, expectedRevision)
    assertUnused('segment', await findDependentsOfSegment(writer.reader, segment))
    await writer.remove('segment', segment)
    const event = changeEvent('segment.deleted', segment.id, { before: segment, after: null })
    return { event, result: null }
  })
}

/** Adds keys to one of the two lists and removes others from it, in every environment. */
export async function changeSegmentKeys(
  management: Management,
  input: Input<'changeSegmentKeys', 'params' | 'body' | 'expectedRevision'>,
): Promise<Segment> {
  const { params, body, expectedRevision } = input
  assertKeys(body)
  const { permission } = endpoints.changeSegmentKeys
  const request = { permission, load: loadSegmentPath, params }
  return applyChange(management, request, async (writer, { segment }) => {
    writer.assertRevision('segment', segment, expectedRevision)
    const { list, add: added = [], remove: removed = [] } = body
    const after = await writer.updateListedKeys(segment, { list, added, removed })
    const event = changeEvent('segment.updated', segment.id, { before: segment, after })
    return { event, result: after }
  })
}

function assertKeys({ add = [], remove = [] }: SegmentKeys): void {
  if (add.length + remove.length > MOST_KEYS_A_CALL) {
    throw invalid('', `One call adds and removes at most ${MOST_KEYS_A_CALL} keys.`)
  }
  const added = new Set(add)
  const index = remove.findIndex((key) => added.has(key))
  if (index >= 0) throw invalid(`remove.${index}`, 'is to be added as well')
}

/** Listed keys are values of one attribute and would mean nothing as values of another. */
function assertNobodyListed({ includedCount, excludedCount }: Segment): void {
  if (includedCount + excludedCount === 0) return
  const message = 'cannot change while keys are listed'
  const issues = [{ path: 'key_attribute', message }]
  throw new FlagError('CONFLICT', `key_attribute: ${message}`, { details: { issues } })
}
