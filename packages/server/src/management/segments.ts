import type { NewSegment, Segment } from '@ff/protocol/management'
import { applyChange, changeEvent } from './apply-change.ts'
import { assertConditions } from './conditions.ts'
import type { Management } from './management.ts'
import { loadProjectPath } from './paths.ts'

/** A new segment, known in every environment of its project. */
export async function createSegment(
  management: Management,
  { params, body }: { readonly params: { readonly projectId: string }; readonly body: NewSegment },
): Promise<Segment> {
  const target = { permission: 'flags.write', load: loadProjectPath, params } as const
  return applyChange(management, target, async (writer, { project }) => {
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
