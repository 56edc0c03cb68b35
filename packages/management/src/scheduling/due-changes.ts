import { FlagError, isFlagError } from '@ff/core'
import { endpoints, type Role, type ScheduledChange } from '@ff/protocol/management'
import { type Job, timestampAt } from '@ff/server/plane'
import type { Storage, StorageSession } from '@ff/storage'
import { type Actor, type FindActor, SYSTEM } from '../access/actors.ts'
import { actorOf, findAccount } from '../authentication/accounts.ts'
import { applyChange, type ChangeServices } from '../changes/apply-change.ts'
import { completed } from '../changes/change-event.ts'
import { rederiveSummaries } from '../summaries/update-summaries.ts'
import { isFinal } from './scheduled-changes.ts'
import { performOperation } from './scheduled-operations.ts'

/** The interval of the job, which is the longest delay of a change while an instance runs the job. */
const EVERY_MS = 1000
const MOST_AT_ONCE = 100

interface DueChangesServices extends ChangeServices {
  /**
   * Looks up actors of the host application; `undefined` if the host does not provide this
   * function.
   */
  readonly findActor: FindActor | undefined
}

/**
 * Creates the job that applies scheduled changes when they are due. Changes that became due while
 * no server was running are applied after the next start.
 */
export function dueChangesJob(services: ChangeServices, findActor: FindActor | undefined): Job {
  return {
    name: 'apply scheduled changes',
    everyMs: EVERY_MS,
    isShared: true,
    run: () => applyDueChanges({ ...services, findActor }),
  }
}

async function applyDueChanges(services: DueChangesServices): Promise<void> {
  const { storage, clock } = services
  // The end of a range is exclusive.
  const to = new Date(clock.now() + 1).toISOString()
  const due = await storage.list('scheduledChange', {
    where: { status: 'pending' },
    range: { field: 'applyAt', to },
    sort: { field: 'applyAt', direction: 'asc' },
    limit: MOST_AT_ONCE,
  })
  for (const change of [...due.data].sort(byTime)) await applyDue(services, change)
}

/** Compares scheduled changes by `applyAt`, then by the time of their creation, for `sort`. */
function byTime(left: ScheduledChange, right: ScheduledChange): number {
  const times = (change: ScheduledChange) => `${change.applyAt} ${change.createdAt}`
  return times(left) < times(right) ? -1 : 1
}

/** The error that is thrown if another instance has applied the change, or if it was cancelled. */
const NO_LONGER_PENDING = new FlagError('CONFLICT', 'The change is no longer pending.')

/**
 * Applies a scheduled change with its author as the actor, and marks it as applied in the same
 * transaction. Stores the failure if the change is refused.
 */
async function applyDue(services: DueChangesServices, change: ScheduledChange): Promise<void> {
  try {
    const actor = await presentAuthor(services, change)
    const alongside = (session: StorageSession) => markApplied(services, session, change.id)
    const call = { actor, alongside, mayOmitComment: true }
    await performOperation(services, call, { place: change, change })
  } catch (error) {
    if (error === NO_LONGER_PENDING) return
    if (!isFinal(error)) throw error
    await keepFailure(services, change, error.message)
  }
}

async function markApplied(
  { clock }: ChangeServices,
  session: StorageSession,
  id: string,
): Promise<void> {
  const change = await session.find('scheduledChange', id)
  if (change?.status !== 'pending') throw NO_LONGER_PENDING
  const now = timestampAt(clock)
  const revision = change.revision + 1
  const changes = { status: 'applied', appliedAt: now, updatedAt: now, revision } as const
  await session.update('scheduledChange', id, changes, change.revision)
  await rederiveSummaries(session, [change])
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
    const request = { actor: SYSTEM, permission, ids, mayOmitComment: true }
    await applyChange(services, request, async (writer, { change }) => {
      const isPending = change.status === 'pending'
      const after = isPending ? await writer.update('scheduledChange', change, fields) : change
      return completed('scheduled_change.failed', { before: change, after })
    })
  } catch (error) {
    if (!isFinal(error)) throw error
    // The flag or environment was deleted, which the audit log shows, or the update was refused.
    const after = { ...fields, updatedAt: timestampAt(services.clock), revision: revision + 1 }
    const project = await services.storage.find('project', projectId)
    await services.storage
      .transaction(project?.orgId ?? projectId, async (session) => {
        await session.update('scheduledChange', changeId, after, revision)
        await rederiveSummaries(session, [{ projectId, environmentId, flagId }])
      })
      .catch(ignoreConflict)
  }
}

/**
 * Ignores the error if another instance has applied the change in the meantime, or if the change
 * was cancelled; otherwise throws it.
 */
function ignoreConflict(error: unknown): void {
  if (!isFlagError(error) || (error.code !== 'CONFLICT' && error.code !== 'NOT_FOUND')) throw error
}

/** The access that an author can lose, in the words of an error message, by the author's source. */
const RIGHTS = { token: 'access token', user: 'membership', host: 'host account' } as const

/**
 * Returns the author of a scheduled change with the current role. Throws `FORBIDDEN` if the
 * author's token or membership has ended. Without `findActor`, an actor of the host application
 * keeps the role that the actor had when the change was scheduled.
 */
async function presentAuthor(
  services: DueChangesServices,
  { createdBy, projectId }: ScheduledChange,
): Promise<Actor> {
  const { storage, findActor } = services
  const { source = await sourceOf(storage, createdBy.id), ...author } = createdBy
  const orgId = (await storage.find('project', projectId))?.orgId ?? null
  const role = author.role as Role
  const recorded = { ...author, role, orgId: role === 'platform' ? null : orgId }
  const find = {
    token: () => findTokenActor(services, recorded),
    user: async () => {
      // The log-in method of the author is not recorded; `oidc` includes all memberships.
      const account = await findAccount(storage, { id: author.id }, 'oidc')
      return account && actorOf(account, orgId ?? '')
    },
    host: async () => (findActor === undefined ? recorded : findActor(author.id)),
  }
  const actor = await find[source]()
  if (actor !== undefined) return actor
  const message = `The author "${author.name}" no longer has a valid ${RIGHTS[source]}.`
  throw new FlagError('FORBIDDEN', message)
}

/** Derives the source of an author for records that lack it. */
async function sourceOf(storage: Storage, id: string): Promise<keyof typeof RIGHTS> {
  if ((await storage.find('accessToken', id)) !== undefined) return 'token'
  return (await storage.find('user', id)) === undefined ? 'host' : 'user'
}

async function findTokenActor(
  { storage, clock }: ChangeServices,
  { id, email }: Actor,
): Promise<Actor | undefined> {
  const token = await storage.find('accessToken', id)
  if (token === undefined) return undefined
  if (token.expiresAt !== null && token.expiresAt <= timestampAt(clock)) return undefined
  return { id, email, name: token.name, role: token.role, orgId: token.orgId }
}
