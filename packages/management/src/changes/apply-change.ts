import { FlagError, isFlagError } from '@ff/core'
import { auditEvents, hasPermission, type Organization } from '@ff/protocol/management'
import { type Client, type Clock, type Logger, timestampAt } from '@ff/server/plane'
import type { ChangeFeed, FlagSetChange, Storage, StorageSession } from '@ff/storage'
import type { Actor } from '../access/actors.ts'
import { type AnyPath, type Ids, loadPath, type PathOf, resolvedIds } from '../access/paths.ts'
import type { Access } from '../access/permissions.ts'
import {
  findEarlierResult,
  type IdempotentRequest,
  rememberResult,
  withScope,
} from '../requests/idempotency.ts'
import { invalid } from '../requests/validation.ts'
import { appendAt, findPlace, type NewAuditEntry } from './audit-chain.ts'
import type { ChangeEvent, CompletedChange } from './change-event.ts'
import { publishAffected } from './publication.ts'
import type { PublishCheck } from './publish-check.ts'
import { assertWithinPlan } from './quotas.ts'
import { RecordWriter } from './record-writer.ts'
import { queueDeliveries } from './webhook-outbox.ts'

/** The services that are necessary to apply a change. */
export interface ChangeServices {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly logger: Logger
  /** Checks changes before they are published. */
  readonly publishCheck: PublishCheck
  /** Notifies the dispatcher of this process that deliveries are due. */
  wakeWebhooks(): void
}

/** The actor of a use case, and the request that calls it. */
export interface ChangeCall {
  readonly actor: Actor
  /** The client that sent the request; absent for an in-process call. */
  readonly caller?: Client
  /** Runs last in the transaction of a change; rolls the change back if it throws. */
  readonly alongside?: (session: StorageSession) => Promise<void>
  /** The identity of a request that the client can repeat; the change is applied only one time. */
  readonly idempotentRequest?: IdempotentRequest | undefined
}

/** A call of a change with the permission that it requires, and the ids of the records to load. */
export interface ChangeRequest<I extends Ids> extends ChangeCall, Access {
  readonly ids: I
}

/**
 * Applies a change. All changes of configuration use this function. In one transaction, under the
 * lock of the organization, the function loads the path, checks access, runs the work, writes the
 * audit event, and publishes the definition of every affected entity. Resolves after the commit,
 * when the change feed has been notified. If `work` writes nothing, no version and no event is
 * added. If `work` throws, nothing is changed. A repeated idempotent request returns the first
 * result.
 */
export async function applyChange<I extends Ids, T>(
  services: ChangeServices,
  request: ChangeRequest<I>,
  work: (writer: RecordWriter, path: PathOf<I>) => Promise<CompletedChange<T>>,
): Promise<T> {
  const { storage, wakeWebhooks } = services
  const { lock, ids } = await lockOf(storage, request)
  const { result, hints, hasDeliveries } = await storage.transaction(lock, async (session) => {
    const located = { ...request, ids }
    const applied = await applyInTransaction({ session, services, request: located, lock }, work)
    await request.alongside?.(session)
    return applied
  })
  if (hasDeliveries) wakeWebhooks()
  await notifyChangeFeed(services, hints)
  return result
}

/**
 * Returns the lock of a change and the ids to load under this lock. The organization of a record
 * never changes, so the lock is still correct when the records are loaded again in the transaction.
 * A key could name another record by then, so ids replace the keys. Members can change only their
 * own organization, so their lock needs no query. Records of another organization are not found.
 */
async function lockOf<I extends Ids>(
  storage: Storage,
  request: ChangeRequest<I>,
): Promise<{ readonly lock: string; readonly ids: I }> {
  const { actor, permission, ids } = request
  const isOwn = actor.role !== 'platform' && hasPermission(actor.role, permission)
  if (isOwn && actor.orgId !== null) return { lock: actor.orgId, ids }
  const path = await loadPath(storage, request, ids)
  return { lock: lockFor(path), ids: resolvedIds(ids, path) }
}

function lockFor({ organization }: AnyPath): string {
  return organization?.id ?? 'platform'
}

interface ChangeInput<I extends Ids> {
  /** The lock of the transaction. */
  readonly lock: string
  readonly session: StorageSession
  readonly services: ChangeServices
  readonly request: ChangeRequest<I>
}

interface AppliedChange<T> {
  readonly result: T
  readonly hints: readonly FlagSetChange[]
  /** `true` if webhook deliveries were queued. */
  readonly hasDeliveries: boolean
}

const NOTHING_APPLIED = { hints: [], hasDeliveries: false } as const

/** Runs the part of a change that belongs to its transaction. */
async function applyInTransaction<I extends Ids, T>(
  { session, services, request, lock }: ChangeInput<I>,
  work: (writer: RecordWriter, path: PathOf<I>) => Promise<CompletedChange<T>>,
): Promise<AppliedChange<T>> {
  const { clock, publishCheck } = services
  const { permission, actor, idempotentRequest } = request
  const loaded = await loadPath(session, request, request.ids)
  const path: AnyPath = loaded
  if (lockFor(path) !== lock) throw new FlagError('INTERNAL', 'A change ran under the wrong lock.')
  const writer = new RecordWriter(session, timestampAt(clock))
  const repeatable = await withScope(idempotentRequest, resolvedIds(request.ids, path))
  const earlier = await findEarlierResult(session, repeatable, writer.now)
  if (earlier !== undefined) return { ...NOTHING_APPLIED, result: earlier.result as T }
  const outcome = await work(writer, loaded)
  const stored = { result: withoutSecret(outcome), now: writer.now }
  await rememberResult(session, repeatable, stored)
  const { event } = outcome
  if (writer.kinds.size === 0) return { ...NOTHING_APPLIED, result: outcome.result }
  if (event === undefined) throw new FlagError('INTERNAL', 'A change has no audit event.')
  await assertWithinPlan(session, path.organization, {
    permission,
    eventType: event.type,
    growthOf: (kind) => writer.balanceOf(kind),
    now: writer.now,
  })
  await updateCounts(session, path.organization, writer)
  // None of these calls depends on what another one writes, so their queries run concurrently.
  const entry = toNewEntry(event, path, actor, writer.now)
  const place = findPlace(session, entry)
  const eventId = async () => (await place).id
  const [hints, hasDeliveries] = await Promise.all([
    publish(session, writer, { eventId, field: outcome.field, publishCheck, path }),
    queueDeliveries(session, entry, eventId),
    place.then((found) => appendAt(session, entry, found)),
  ])
  return { result: outcome.result, hints, hasDeliveries }
}

/**
 * Updates the organization's numbers of projects, environments and flags, in the transaction that
 * adds or deletes them. The lock of the organization prevents concurrent updates. The revision of
 * the organization is unchanged, because callers do not change these numbers directly.
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

interface PublishInput extends Pick<ChangeServices, 'publishCheck'> {
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

/** Notifies the change feed. Never throws, because a missing hint only delays other processes. */
async function notifyChangeFeed(
  { changeFeed, logger }: ChangeServices,
  hints: readonly FlagSetChange[],
): Promise<void> {
  for (const hint of hints) {
    try {
      await changeFeed.publish(hint)
    } catch (cause) {
      logger.warn('The change feed could not be notified of a change', { hint, cause })
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
