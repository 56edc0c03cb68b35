import { FlagError, isFlagError } from '@ff/core'
import { endpoints } from '@ff/protocol/management'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import { completed } from '../changes/change-event.ts'
import { defineChange, defineUseCases } from '../changes/use-case.ts'
import { given } from '../requests/filters.ts'
import type { Input } from '../requests/input.ts'
import { listPage } from '../requests/pages.ts'
import { withoutReadOnlyFields } from '../requests/read-only.ts'
import { assertInFuture, invalid } from '../requests/validation.ts'
import { performOperation } from './scheduled-operations.ts'

const MOST_PENDING = 100

/** The use cases of scheduled changes. */
export const scheduledChangeUseCases = {
  ...defineUseCases({
    /**
     * Returns one page of the scheduled changes of a flag in an environment, sorted by `applyAt`.
     * Applied and failed changes are included.
     */
    listScheduledChanges({ storage, params: { flagId, environmentId }, query }) {
      const where = given({ flagId, environmentId, status: query.status })
      return listPage(storage, 'scheduledChange', { where, sortBy: 'applyAt', query })
    },

    /** Cancels a pending change. Throws `CONFLICT` if it was already applied or has failed. */
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
   * Schedules a change. Throws the error that applying the change now would throw. To find this
   * error, the change is applied in a transaction that is rolled back. When the change is due, it
   * is validated again.
   */
  createScheduledChange: defineChange('createScheduledChange', {
    prepare: ({ services, call, params, body }) => rehearse(services, call, { params, body }),
    async run({ writer, params, body, actor, comment = null }) {
      const { id, email, name, role, source = 'host' } = actor
      assertInFuture('apply_at', body.applyAt, writer.now)
      const { flagId, environmentId, projectId } = params
      const where = { flagId, environmentId, status: 'pending' as const }
      const { total } = await writer.reader.list('scheduledChange', { where, limit: 1 })
      if (total >= MOST_PENDING) {
        throw invalid('', `A flag has at most ${MOST_PENDING} pending changes per environment.`)
      }
      const change = await writer.insert('scheduledChange', {
        flagId,
        environmentId,
        projectId,
        applyAt: body.applyAt,
        operation: body.operation,
        targetId: body.targetId ?? null,
        body: withoutReadOnlyFields(endpoints[body.operation].body, body.body ?? null, 'wire'),
        status: 'pending',
        appliedAt: null,
        failure: null,
        comment,
        createdBy: { id, email, name, role, source },
      })
      return completed('scheduled_change.created', { after: change })
    },
  }),
}

/**
 * The error that rolls back the trial run of a change. It is compared by identity, so it must not
 * be thrown for another reason.
 */
const REHEARSED = new FlagError('CONFLICT', 'The trial run was rolled back.')

/**
 * Throws the error that applying the change now would throw. The paths of an `INVALID_REQUEST`
 * error are those of the scheduled change, such as `body.is_active`.
 */
async function rehearse(
  services: ChangeServices,
  { actor }: ChangeCall,
  { params, body }: Input<'createScheduledChange', 'params' | 'body'>,
): Promise<undefined> {
  const alongside = async () => {
    throw REHEARSED
  }
  try {
    const call = { actor, alongside, mayOmitComment: true }
    await performOperation(services, call, { place: params, change: body })
  } catch (error) {
    if (error !== REHEARSED) throw error
  }
}

/** Returns `true` if an error is about the change itself, so that a retry would fail again. */
export function isFinal(error: unknown): error is FlagError {
  return isFlagError(error) && error.code !== 'UNAVAILABLE' && error.code !== 'INTERNAL'
}
