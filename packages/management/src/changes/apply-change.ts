import { FlagError, isFlagError } from '@ff/core'
import { auditEvents, hasPermission, type Organization } from '@ff/protocol/management'
import { timestampAt } from '@ff/server/plane'
import type { FlagSetChange, StorageSession } from '@ff/storage'
import type { AnyPath } from '../access/access-request.ts'
import { type AccessRequest, loadPermitted } from '../access/access-request.ts'
import type { Actor } from '../access/actors.ts'
import { appendAt, findPlace, type NewAuditEntry } from '../audit/audit-chain.ts'
import type { ChangeEvent } from '../audit/change-event.ts'
import { findEarlierResult, rememberResult } from '../requests/idempotency.ts'
import { invalid } from '../requests/validation.ts'
import type { Management } from './management.ts'
import { publishAffected } from './publication.ts'
import { assertWithinPlan } from './quotas.ts'
import { RecordWriter } from './record-writer.ts'
import { queueDeliveries } from './webhook-outbox.ts'

/** The result of a change, and what its audit event and its publication need. */
export interface CompletedChange<T> {
  readonly event: ChangeEvent
  readonly result: T
  /** The wire field that an `INVALID_DEFINITION` error of the publication names. */
  readonly field?: string
  /** The field of `result` with a secret; `null` in the reply to a repeated request. */
  readonly shownOnce?: keyof T & string
}

/**
 * The only way to change configuration. In one transaction, under the lock of the organization:
 * loads the path, decides access, does the work, writes the audit event, and publishes the
 * definition of every affected entity. Resolves after the commit, when the change feed is notified.
 * Work that writes nothing adds neither a version nor an event; work that throws changes nothing. A
 * repeated idempotent request returns its first result.
 */
export async function applyChange<Params, Path extends AnyPath, T>(
  management: Management,
  request: AccessRequest<Params, Path>,
  work: (writer: RecordWriter, path: Path) => Promise<CompletedChange<T>>,
): Promise<T> {
  const lock = await lockOf(management, request)
  const { result, hints, hasDeliveries } = await management.storage.transaction(
    lock,
    async (session) => {
      const made = await applyInTransaction({ session, management, request, lock }, work)
      await management.alongside?.(session)
      return made
    },
  )
  if (hasDeliveries) management.wakeWebhooks()
  await notifyChangeFeed(management, hints)
  return result
}

/**
 * Returns the lock of a change. The organization of a record never changes, so the lock is still
 * right when the records are loaded again under it. Members change their own organization only, so
 * their lock needs no look-up; records of another organization are not found under it.
 */
async function lockOf<Params, Path extends AnyPath>(
  management: Management,
  request: AccessRequest<Params, Path>,
): Promise<string> {
  const { actor } = management
  const isOwn = actor.role !== 'platform' && hasPermission(actor.role, request.permission)
  if (isOwn && actor.orgId !== null) return actor.orgId
  return lockFor(await loadPermitted(management, request))
}

function lockFor({ organization }: AnyPath): string {
  return organization?.id ?? 'platform'
}

interface ChangeInput<Params, Path extends AnyPath> {
  /** The lock that the transaction holds. */
  readonly lock: string
  readonly session: StorageSession
  readonly management: Management
  readonly request: AccessRequest<Params, Path>
}

interface AppliedChange<T> {
  readonly result: T
  readonly hints: readonly FlagSetChange[]
  /** Whether webhook deliveries were queued. */
  readonly hasDeliveries: boolean
}

const NOTHING_APPLIED = { hints: [], hasDeliveries: false } as const

/** Does the part of a change that belongs to its transaction. */
async function applyInTransaction<Params, Path extends AnyPath, T>(
  { session, management, request, lock }: ChangeInput<Params, Path>,
  work: (writer: RecordWriter, path: Path) => Promise<CompletedChange<T>>,
): Promise<AppliedChange<T>> {
  const { clock, actor, idempotentRequest } = management
  const { permission, load, params } = request
  const path = await load(session, { actor, permission }, params)
  if (lockFor(path) !== lock) throw new FlagError('INTERNAL', 'A change held the wrong lock.')
  const writer = new RecordWriter(session, timestampAt(clock))
  const earlier = await findEarlierResult(session, idempotentRequest, writer.now)
  if (earlier !== undefined) return { ...NOTHING_APPLIED, result: earlier.result as T }
  const outcome = await work(writer, path)
  const answer = { result: withoutSecret(outcome), now: writer.now }
  await rememberResult(session, idempotentRequest, answer)
  if (writer.kinds.size === 0) return { ...NOTHING_APPLIED, result: outcome.result }
  await assertWithinPlan(session, path.organization, {
    permission,
    eventType: outcome.event.type,
    growthOf: (kind) => writer.balanceOf(kind),
    now: writer.now,
  })
  await updateCounts(session, path.organization, writer)
  // None of these depends on another's writes, so their queries travel together.
  const entry = toNewEntry(outcome.event, path, actor, writer.now)
  const place = findPlace(session, entry)
  const eventId = async () => (await place).id
  const { publishCheck } = management
  const [hints, hasDeliveries] = await Promise.all([
    publish(session, writer, { eventId, field: outcome.field, publishCheck, path }),
    queueDeliveries(session, entry, eventId),
    place.then((found) => appendAt(session, entry, found)),
  ])
  return { result: outcome.result, hints, hasDeliveries }
}

/**
 * Updates the organization's numbers of projects, environments and flags, in the transaction that
 * adds or deletes them; its lock prevents concurrent counting. The revision of the organization
 * stays, because no caller has changed it.
 */
async function updateCounts(
  session: StorageSession,
  organization: Organization | null,
  writer: RecordWriter,
): Promise<void> {
  const more = {
    projectCount: writer.balanceOf('project'),
    environmentCount: writer.balanceOf('environment'),
    flagCount: writer.balanceOf('flag'),
  }
  if (organization === null || Object.values(more).every((number) => number === 0)) return
  const { id, projectCount, environmentCount, flagCount } = organization
  if ((await session.find('organization', id)) === undefined) return
  await session.update('organization', id, {
    projectCount: projectCount + more.projectCount,
    environmentCount: environmentCount + more.environmentCount,
    flagCount: flagCount + more.flagCount,
  })
}

function withoutSecret<T>({ result, shownOnce }: CompletedChange<T>): unknown {
  return shownOnce === undefined ? result : { ...result, [shownOnce]: null }
}

interface PublishInput extends Pick<Management, 'publishCheck'> {
  readonly eventId: () => Promise<string>
  readonly field: string | undefined
  readonly path: AnyPath
}

async function publish(
  session: StorageSession,
  { affected, kinds, now: publishedAt }: RecordWriter,
  { eventId, field = '', publishCheck, path }: PublishInput,
): Promise<readonly FlagSetChange[]> {
  try {
    const metadata = async () => ({ publishedAt, eventId: await eventId() })
    const environment = kinds.has('environment') ? undefined : path.environment
    const hints = await publishAffected(session, affected, { metadata, publishCheck, environment })
    return kinds.has('sdkKey') ? [...hints, { type: 'sdkKeys' }] : hints
  } catch (error) {
    if (isFlagError(error) && error.code === 'INVALID_DEFINITION')
      throw invalid(field, error.message)
    throw error
  }
}

/** Never throws: after the commit, a failing feed only delays other processes. */
async function notifyChangeFeed(
  { changeFeed, logger }: Management,
  hints: readonly FlagSetChange[],
): Promise<void> {
  for (const hint of hints) {
    try {
      await changeFeed.publish(hint)
    } catch (cause) {
      logger.warn('the change feed could not be notified of a change', { hint, cause })
    }
  }
}

function toNewEntry(
  { type, id, before, after }: ChangeEvent,
  { organization, project }: AnyPath,
  actor: Actor,
  createdAt: string,
): NewAuditEntry {
  const { stream } = auditEvents[type]
  const owner = (kind: string) => (stream === kind ? id : '')
  const { id: actorId, email, name, role } = actor
  return {
    eventType: type,
    payload: { before, after } as NewAuditEntry['payload'],
    createdAt,
    streamId: `${stream}:${id}`,
    orgId: organization?.id ?? owner('organization'),
    projectId: project?.id ?? owner('project'),
    actorId,
    actor: { id: actorId, email, name, role },
  }
}
