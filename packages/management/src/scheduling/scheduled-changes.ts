import { FlagError, isFlagError } from '@ff/core'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import { completed } from '../changes/change-event.ts'
import { defineChange, defineUseCases } from '../changes/use-case.ts'
import { given } from '../requests/filters.ts'
import type { Input } from '../requests/input.ts'
import { listPage } from '../requests/pages.ts'
import { assertInFuture, invalid } from '../requests/validation.ts'
import { performOperation } from './scheduled-operations.ts'

const MOST_PENDING = 100

/** The use cases of scheduled changes. */
export const scheduledChangeUseCases = {
  ...defineUseCases({
    /** One page of what is and was scheduled for a flag in an environment, by its time. */
    listScheduledChanges({ storage, params: { flagId, environmentId }, query }) {
      const where = given({ flagId, environmentId, status: query.status })
      return listPage(storage, 'scheduledChange', { where, sortBy: 'applyAt', query })
    },

    /** Calls a pending change off; throws `CONFLICT` for one that was made, or failed. */
    async deleteScheduledChange({ writer, change, expectedRevision }) {
      await writer.remove('scheduledChange', change, expectedRevision)
      if (change.status !== 'pending') {
        const end = change.status === 'applied' ? 'been applied' : 'failed'
        throw new FlagError('CONFLICT', `The change has already ${end}.`)
      }
      return completed('scheduled_change.deleted', { before: change })
    },
  }),

  /**
   * Schedules a change. It must be possible now, which is tried and undone; whether it still is
   * when its time has come is decided then.
   */
  createScheduledChange: defineChange('createScheduledChange', {
    prepare: ({ services, call, params, body }) => rehearse(services, call, { params, body }),
    async run({ writer, params, body, actor }) {
      const { id, email, name, role, source = 'host' } = actor
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
      return completed('scheduled_change.created', { after: change })
    },
  }),
}

/** Rolls a rehearsal back; thrown nowhere else. */
const REHEARSED = new FlagError('CONFLICT', 'This was only a rehearsal.')

/** Throws what making the change now would throw, with the fields named as they stand in the body. */
async function rehearse(
  services: ChangeServices,
  { actor }: ChangeCall,
  { params, body }: Input<'createScheduledChange', 'params' | 'body'>,
): Promise<undefined> {
  const alongside = async () => {
    throw REHEARSED
  }
  try {
    await performOperation(services, { actor, alongside }, { place: params, change: body })
  } catch (error) {
    if (error !== REHEARSED) throw error
  }
}

/** Whether an error says that the change itself cannot be made, rather than that it cannot be now. */
export function isFinal(error: unknown): error is FlagError {
  return isFlagError(error) && error.code !== 'UNAVAILABLE' && error.code !== 'INTERNAL'
}
