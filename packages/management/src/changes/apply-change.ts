import { FlagError, isFlagError } from '@ff/core'
import { hasPermission } from '@ff/protocol/management'
import { type Client, timestampAt } from '@ff/server/plane'
import type { FlagSetChange, Records, Storage, StorageSession } from '@ff/storage'
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
import { loadSummarized, updateSummaries } from '../summaries/update-summaries.ts'
import { type AnnouncementServices, announce, serve } from './announcement.ts'
import { appendAt, findPlace } from './audit-chain.ts'
import { type CompletedChange, toAuditEntry } from './change-event.ts'
import { publishAffected } from './publication.ts'
import type { PublishChecks } from './publish-check.ts'
import { assertWithinPlan, type PlannedChange, updateCounts } from './quotas.ts'
import { RecordWriter } from './record-writer.ts'
import { assertCommented } from './required-comments.ts'
import { queueDeliveries } from './webhook-outbox.ts'

/** The services that are necessary to apply a change. */
export interface ChangeServices extends AnnouncementServices {
  readonly storage: Storage
  /** Checks changes before they are published. */
  readonly publishCheck: PublishChecks
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
  /**
   * `true` if no environment requires a comment of this change, because the comment was required
   * when the change was scheduled.
   */
  readonly mayOmitComment?: boolean
}

/** A call of a change with the permission that it requires, and the ids of the records to load. */
export interface ChangeRequest<I extends Ids> extends ChangeCall, Access {
  readonly ids: I
  /** The reason for the change; an empty text is refused. */
  readonly comment?: string | undefined
}

/**
 * Applies a change. All changes of configuration use this function. In one transaction, under the
 * lock of the organization, the function loads the path, checks access, runs the work, writes the
 * audit event, publishes the definition of every affected entity, and updates the summaries of
 * flags. Resolves after the commit, when this process serves the new versions and the change feed has
 * been notified, unless either takes too long. If `work` writes nothing, no version and no event is added. If `work` throws, nothing is changed. A
 * repeated idempotent request returns the first result.
 */
export async function applyChange<I extends Ids, T>(
  services: ChangeServices,
  request: ChangeRequest<I>,
  work: (writer: RecordWriter, path: PathOf<I>) => Promise<CompletedChange<T>>,
): Promise<T> {
  const { storage, wakeWebhooks } = services
  const { lock, ids } = await lockOf(storage, request)
  const located = { ...request, ids }
  const { result, ...applied } = await committed(storage, lock, async (session) => {
    const applied = await applyInTransaction({ session, services, request: located, lock }, work)
    await request.alongside?.(session)
    return applied
  })
  if (applied.hasDeliveries) wakeWebhooks()
  await Promise.all([serve(services, applied), announce(services, applied)])
  return result
}

/** The error that rolls a dry run back. */
const DRY_RUN = new FlagError('CONFLICT', 'The dry run was rolled back.')

/** Runs a change in a transaction, which is rolled back if the change is a dry run. */
async function committed<T>(
  storage: Storage,
  lock: string,
  apply: (session: StorageSession) => Promise<AppliedChange<T>>,
): Promise<AppliedChange<T>> {
  let applied: AppliedChange<T> | undefined
  try {
    return await storage.transaction(lock, async (session) => {
      applied = await apply(session)
      if (applied.isDryRun === true) throw DRY_RUN
      return applied
    })
  } catch (error) {
    if (error !== DRY_RUN || applied === undefined) throw error
    return { ...NOTHING_APPLIED, result: applied.result }
  }
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
  /** The audit entry. */
  readonly entry?: Records['auditEvent']
  /** `true` if webhook deliveries were queued. */
  readonly hasDeliveries: boolean
  /** `true` to roll the transaction back. */
  readonly isDryRun?: boolean | undefined
}

const NOTHING_APPLIED = { hints: [], hasDeliveries: false } as const

/** Runs the part of a change that belongs to its transaction. */
async function applyInTransaction<I extends Ids, T>(
  { session, services, request, lock }: ChangeInput<I>,
  work: (writer: RecordWriter, path: PathOf<I>) => Promise<CompletedChange<T>>,
): Promise<AppliedChange<T>> {
  const { clock } = services
  const { idempotentRequest } = request
  const loaded = await loadPath(session, request, request.ids)
  const path: AnyPath = loaded
  if (lockFor(path) !== lock) throw new FlagError('INTERNAL', 'A change ran under the wrong lock.')
  const writer = new RecordWriter(session, timestampAt(clock))
  const repeatable = await withScope(idempotentRequest, resolvedIds(request.ids, path))
  const earlier = await findEarlierResult(session, repeatable, writer.now)
  if (earlier !== undefined) return { ...NOTHING_APPLIED, result: earlier.result as T }
  const outcome = await work(writer, loaded)
  const published = await recordAndPublish({ services, session, request }, outcome, {
    writer,
    path,
  })
  const result = withVersion(outcome, path, published.hints)
  const stored = { result: withoutSecret({ ...outcome, result }), now: writer.now }
  await rememberResult(session, repeatable, stored)
  return { ...published, result, isDryRun: outcome.isDryRun }
}

/** Writes the audit event of a change, queues its webhook deliveries, and publishes its version. */
async function recordAndPublish<I extends Ids, T>(
  { session, services: { publishCheck }, request }: Omit<ChangeInput<I>, 'lock'>,
  { event, field, isDryRun }: CompletedChange<T>,
  { writer, path }: { readonly writer: RecordWriter; readonly path: AnyPath },
): Promise<Omit<AppliedChange<T>, 'result'>> {
  if (!isDryRun) await assertCommented(writer, { ...request, environment: path.environment })
  if (writer.kinds.size === 0) return NOTHING_APPLIED
  if (event === undefined) throw new FlagError('INTERNAL', 'A change has no audit event.')
  const { permission, actor } = request
  const { organization } = path
  const growthOf: PlannedChange['growthOf'] = (kind) => writer.balanceOf(kind)
  const planned = { permission, eventType: event.type, growthOf, now: writer.now }
  await assertWithinPlan(session, organization, planned)
  await updateCounts(session, organization, growthOf)
  // None of these calls depends on what another one writes, so their queries run concurrently.
  const entry = toAuditEntry(event, { ...request, path, createdAt: writer.now })
  const place = findPlace(session, entry)
  const eventId = async () => (await place).id
  const [hints, hasDeliveries, stored] = await Promise.all([
    publish(session, writer, { eventId, field, publishCheck, path, actor }),
    queueDeliveries(session, entry, eventId),
    place.then((found) => appendAt(session, entry, found)),
  ])
  const projectHints = changedProjects(path, writer).map((projectId) => {
    return { type: 'project', projectId } as const
  })
  return { hints: [...hints, ...projectHints], hasDeliveries, entry: stored }
}

/** Returns the ids of the projects whose records have changed. */
function changedProjects({ project }: AnyPath, { affected }: RecordWriter): readonly string[] {
  const own = project === undefined ? [] : [project.id]
  return [...new Set([...own, ...affected.map(({ projectId }) => projectId)])]
}

/** Returns the result of a change, with the version that it published in its environment. */
function withVersion<T>(
  { result, publishedAs, isDryRun = false }: CompletedChange<T>,
  { environment }: AnyPath,
  hints: readonly FlagSetChange[],
): T {
  const published = hints.find((hint) => {
    return hint.type === 'flagSet' && hint.environmentId === environment?.id
  })
  if (publishedAs === undefined || isDryRun || published?.type !== 'flagSet') return result
  return { ...result, [publishedAs]: published.version }
}

function withoutSecret<T>({ result, shownOnce }: CompletedChange<T>): unknown {
  return shownOnce === undefined ? result : { ...result, [shownOnce]: null }
}

interface PublishInput extends Pick<ChangeServices, 'publishCheck'> {
  readonly eventId: () => Promise<string>
  readonly field: string | undefined
  readonly path: AnyPath
  readonly actor: Actor
}

/** Publishes the affected entities, and updates the summaries that depend on them. */
async function publish(
  session: StorageSession,
  { affected, summarized, kinds, now: publishedAt }: RecordWriter,
  { eventId, field = '', publishCheck, path, actor }: PublishInput,
): Promise<readonly FlagSetChange[]> {
  try {
    const metadata = async () => ({ publishedAt, eventId: await eventId() })
    const environment = kinds.has('environment') ? undefined : path.environment
    const [hints, loaded] = await Promise.all([
      publishAffected(session, affected, { metadata, publishCheck, environment }),
      loadSummarized(session, summarized),
    ])
    const cause = { hints, publishedAt, actorName: actor.name, eventId: await eventId() }
    await updateSummaries(session, loaded, cause)
    return kinds.has('sdkKey') ? [...hints, { type: 'sdkKeys' }] : hints
  } catch (error) {
    if (isFlagError(error) && error.code === 'INVALID_DEFINITION')
      throw invalid(field, error.message)
    throw error
  }
}
