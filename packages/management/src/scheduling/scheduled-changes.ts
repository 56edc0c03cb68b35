import { FlagError, isFlagError } from '@ff/core'
import {
  endpoints,
  type NewScheduledChange,
  type PageOf,
  type ScheduledChange,
} from '@ff/protocol/management'
import { loadPermitted } from '../access/access-request.ts'
import { loadFlagStatePath, loadScheduledChangePath } from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
import { assertInFuture, invalid } from '../requests/validation.ts'
import { performOperation } from './scheduled-operations.ts'

const MOST_PENDING = 100

/** One page of what is and was scheduled for a flag in an environment, by its time. */
export async function listScheduledChanges(
  management: Management,
  { params, query }: Input<'listScheduledChanges', 'params' | 'query'>,
): Promise<PageOf<ScheduledChange>> {
  const { permission } = endpoints.listScheduledChanges
  await loadPermitted(management, { permission, load: loadFlagStatePath, params })
  const { flagId, environmentId } = params
  const { status } = query
  const found = await management.storage.list('scheduledChange', {
    where: { flagId, environmentId, ...(status !== undefined && { status }) },
    sort: { field: 'applyAt', direction: 'asc' },
    ...pagingOf(query),
  })
  return toPage(found, query)
}

/**
 * Schedules a change. It must be possible now, which is tried and undone; whether it still is
 * when its time has come is decided then.
 */
export async function createScheduledChange(
  management: Management,
  { params, body }: Input<'createScheduledChange', 'params' | 'body'>,
): Promise<ScheduledChange> {
  const { permission } = endpoints.createScheduledChange
  const request = { permission, load: loadFlagStatePath, params }
  await loadPermitted(management, request)
  await rehearse(management, params, body)
  const { id, email, name, role, source = 'host' } = management.actor
  return applyChange(management, request, async (writer) => {
    assertInFuture('apply_at', body.applyAt, writer.now)
    const { flagId, environmentId, projectId } = params
    const where = { flagId, environmentId, status: 'pending' as const }
    const { total } = await writer.reader.list('scheduledChange', { where, limit: 1 })
    if (total >= MOST_PENDING) {
      throw invalid('', `At most ${MOST_PENDING} changes of a flag can be pending.`)
    }
    const change = await writer.insert('scheduledChange', {
      flagId,
      environmentId,
      projectId,
      applyAt: body.applyAt,
      operation: body.operation,
      targetId: body.targetId ?? null,
      body: body.body ?? null,
      status: 'pending',
      appliedAt: null,
      failure: null,
      createdBy: { id, email, name, role, source },
    })
    const fields = { before: null, after: change }
    const event = changeEvent('scheduled_change.created', change.id, fields)
    return { event, result: change }
  })
}

/** Calls a pending change off; throws `CONFLICT` for one that was made, or failed. */
export async function deleteScheduledChange(
  management: Management,
  { params, expectedRevision }: Input<'deleteScheduledChange', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteScheduledChange
  const request = { permission, load: loadScheduledChangePath, params }
  return applyChange(management, request, async (writer, { change }) => {
    writer.assertRevision('scheduledChange', change, expectedRevision)
    if (change.status !== 'pending') {
      throw new FlagError('CONFLICT', `The change has already ${pastOf(change.status)}.`)
    }
    await writer.remove('scheduledChange', change)
    const fields = { before: change, after: null }
    const event = changeEvent('scheduled_change.deleted', change.id, fields)
    return { event, result: null }
  })
}

function pastOf(status: 'applied' | 'failed'): string {
  return status === 'applied' ? 'been applied' : 'failed'
}

/** Rolls a rehearsal back; thrown nowhere else. */
const REHEARSED = new FlagError('CONFLICT', 'This was only a rehearsal.')

/** Throws what making the change now would throw, with the fields named as they stand in the body. */
async function rehearse(
  management: Management,
  params: Input<'createScheduledChange', 'params'>['params'],
  change: NewScheduledChange,
): Promise<void> {
  const undo = async () => {
    throw REHEARSED
  }
  const { idempotentRequest: _, ...once } = management
  try {
    await performOperation({ ...once, alongside: undo }, params, change)
  } catch (error) {
    if (error !== REHEARSED) throw error
  }
}

/** Whether an error says that the change itself cannot be made, rather than that it cannot be now. */
export function isFinal(error: unknown): boolean {
  return isFlagError(error) && error.code !== 'UNAVAILABLE' && error.code !== 'INTERNAL'
}
