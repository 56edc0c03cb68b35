import { FlagError, isFlagError } from '@ff/core'
import { endpoints, type ScheduledChange } from '@ff/protocol/management'
import { type Job, timestampAt } from '@ff/server/plane'
import type { StorageSession } from '@ff/storage'
import { SYSTEM } from '../access/actors.ts'
import { loadScheduledChangePath } from '../access/project-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Installation, Management } from '../changes/management.ts'
import { presentAuthor } from './change-author.ts'
import { isFinal } from './scheduled-changes.ts'
import { performOperation } from './scheduled-operations.ts'

/** How late a scheduled change may be made while a server runs. */
const EVERY_MS = 1000
const MOST_AT_ONCE = 100

/** Makes scheduled changes when their time has come, or as soon after as a server runs. */
export function dueChangesJob(installation: Installation): Job {
  return {
    name: 'apply scheduled changes',
    everyMs: EVERY_MS,
    run: () => applyDueChanges(installation),
  }
}

async function applyDueChanges(installation: Installation): Promise<void> {
  const { storage, clock } = installation
  // The range ends before `to`.
  const to = new Date(clock.now() + 1).toISOString()
  const due = await storage.list('scheduledChange', {
    where: { status: 'pending' },
    range: { field: 'applyAt', to },
    sort: { field: 'applyAt', direction: 'asc' },
    limit: MOST_AT_ONCE,
  })
  for (const change of [...due.data].sort(byTime)) await applyDue(installation, change)
}

/** Orders by `applyAt`, then by the time of scheduling. */
function byTime(left: ScheduledChange, right: ScheduledChange): number {
  const times = (change: ScheduledChange) => `${change.applyAt} ${change.createdAt}`
  return times(left) < times(right) ? -1 : 1
}

/** The change has been applied by another instance, or cancelled. */
const NO_LONGER_PENDING = new FlagError('CONFLICT', 'The change is no longer pending.')

/** Makes a change as its author and marks it as applied, both or neither. */
async function applyDue(installation: Installation, change: ScheduledChange): Promise<void> {
  const alongside = (session: StorageSession) => settle(installation, session, change.id)
  try {
    const actor = await presentAuthor(installation, change)
    await performOperation({ ...installation, actor, alongside }, change, change)
  } catch (error) {
    if (error === NO_LONGER_PENDING) return
    if (!isFinal(error)) throw error
    await keepFailure({ ...installation, actor: SYSTEM }, change, (error as FlagError).message)
  }
}

async function settle({ clock }: Installation, session: StorageSession, id: string): Promise<void> {
  const change = await session.find('scheduledChange', id)
  if (change?.status !== 'pending') throw NO_LONGER_PENDING
  const now = timestampAt(clock)
  const changes = { status: 'applied' as const, appliedAt: now, updatedAt: now }
  const revision = change.revision + 1
  await session.update('scheduledChange', id, { ...changes, revision }, change.revision)
}

async function keepFailure(
  management: Management,
  { id: changeId, revision, ...place }: ScheduledChange,
  failure: string,
): Promise<void> {
  const { permission } = endpoints.createScheduledChange
  const request = { permission, load: loadScheduledChangePath, params: { ...place, changeId } }
  const fields = { status: 'failed' as const, failure }
  try {
    await applyChange(management, request, async (writer, { change }) => {
      const isPending = change.status === 'pending'
      const after = isPending ? await writer.update('scheduledChange', change, fields) : change
      const event = changeEvent('scheduled_change.failed', changeId, { before: change, after })
      return { event, result: null }
    })
  } catch (error) {
    if (!isFlagError(error) || !isFinal(error)) throw error
    // Its flag or environment is gone, which the audit log shows; or no change may be made.
    const after = { ...fields, updatedAt: timestampAt(management.clock), revision: revision + 1 }
    await management.storage
      .update('scheduledChange', changeId, after, revision)
      .catch(ignoreConflict)
  }
}

/** Another instance has applied the change meanwhile, or it was called off. */
function ignoreConflict(error: unknown): void {
  if (!isFlagError(error) || (error.code !== 'CONFLICT' && error.code !== 'NOT_FOUND')) throw error
}
