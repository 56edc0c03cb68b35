import { FlagError, isFlagError } from '@ff/core'
import { endpoints, type ScheduledChange } from '@ff/protocol/management'
import { type Job, timestampAt } from '@ff/server/plane'
import type { StorageSession } from '@ff/storage'
import { type Actor, type FindActor, SYSTEM } from '../access/actors.ts'
import { applyChange, type ChangeServices } from '../changes/apply-change.ts'
import { completed } from '../changes/change-event.ts'
import { presentAuthor } from './change-author.ts'
import { isFinal } from './scheduled-changes.ts'
import { performOperation } from './scheduled-operations.ts'

/** How late a scheduled change may be made while a server runs. */
const EVERY_MS = 1000
const MOST_AT_ONCE = 100

/** Makes scheduled changes when their time has come, or as soon after as a server runs. */
export function dueChangesJob(services: ChangeServices, findActor: FindActor | undefined): Job {
  return {
    name: 'apply scheduled changes',
    everyMs: EVERY_MS,
    run: () => applyDueChanges(services, findActor),
  }
}

async function applyDueChanges(
  services: ChangeServices,
  findActor: FindActor | undefined,
): Promise<void> {
  const { storage, clock } = services
  // The range ends before `to`.
  const to = new Date(clock.now() + 1).toISOString()
  const due = await storage.list('scheduledChange', {
    where: { status: 'pending' },
    range: { field: 'applyAt', to },
    sort: { field: 'applyAt', direction: 'asc' },
    limit: MOST_AT_ONCE,
  })
  for (const change of [...due.data].sort(byTime)) {
    const author = () => presentAuthor({ storage, clock, findActor }, change)
    await applyDue(services, change, author)
  }
}

/** Orders by `applyAt`, then by the time of scheduling. */
function byTime(left: ScheduledChange, right: ScheduledChange): number {
  const times = (change: ScheduledChange) => `${change.applyAt} ${change.createdAt}`
  return times(left) < times(right) ? -1 : 1
}

/** The change has been applied by another instance, or cancelled. */
const NO_LONGER_PENDING = new FlagError('CONFLICT', 'The change is no longer pending.')

/** Makes a change as its author and marks it as applied, both or neither. */
async function applyDue(
  services: ChangeServices,
  change: ScheduledChange,
  findAuthor: () => Promise<Actor>,
): Promise<void> {
  const alongside = (session: StorageSession) => settle(services, session, change.id)
  try {
    const call = { actor: await findAuthor(), alongside }
    await performOperation(services, call, { place: change, change })
  } catch (error) {
    if (error === NO_LONGER_PENDING) return
    if (!isFinal(error)) throw error
    await keepFailure(services, change, (error as FlagError).message)
  }
}

async function settle(
  { clock }: ChangeServices,
  session: StorageSession,
  id: string,
): Promise<void> {
  const change = await session.find('scheduledChange', id)
  if (change?.status !== 'pending') throw NO_LONGER_PENDING
  const now = timestampAt(clock)
  const changes = { status: 'applied' as const, appliedAt: now, updatedAt: now }
  const revision = change.revision + 1
  await session.update('scheduledChange', id, { ...changes, revision }, change.revision)
}

async function keepFailure(
  services: ChangeServices,
  { id: changeId, revision, projectId, environmentId, flagId }: ScheduledChange,
  failure: string,
): Promise<void> {
  const { permission } = endpoints.createScheduledChange
  const ids = { projectId, environmentId, flagId, changeId }
  const fields = { status: 'failed' as const, failure }
  try {
    await applyChange(services, { actor: SYSTEM, permission, ids }, async (writer, { change }) => {
      const isPending = change.status === 'pending'
      const after = isPending ? await writer.update('scheduledChange', change, fields) : change
      return completed(
        'scheduled_change.failed',
        { before: change, after },
        { id: changeId, result: null },
      )
    })
  } catch (error) {
    if (!isFlagError(error) || !isFinal(error)) throw error
    // Its flag or environment is gone, which the audit log shows; or no change may be made.
    const after = { ...fields, updatedAt: timestampAt(services.clock), revision: revision + 1 }
    await services.storage
      .update('scheduledChange', changeId, after, revision)
      .catch(ignoreConflict)
  }
}

/** Another instance has applied the change meanwhile, or it was called off. */
function ignoreConflict(error: unknown): void {
  if (!isFlagError(error) || (error.code !== 'CONFLICT' && error.code !== 'NOT_FOUND')) throw error
}
