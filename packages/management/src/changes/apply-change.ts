import { FlagError, isFlagError } from '@ff/core'
import { auditEvents } from '@ff/protocol/management'
import { timestampAt } from '@ff/server/plane'
import type { FlagSetChange, StorageSession } from '@ff/storage'
import { loadPermitted, type Target } from '../access/access-request.ts'
import type { Actor } from '../access/actors.ts'
import type { AnyPath } from '../access/paths.ts'
import { mayAs } from '../access/permissions.ts'
import { appendAt, findPlace, type NewAuditEntry } from '../audit/audit-chain.ts'
import type { ChangeEvent } from '../audit/change-event.ts'
import { findEarlierResult, rememberResult } from '../requests/idempotency.ts'
import { invalid } from '../requests/validation.ts'
import { keepCounts } from './counts.ts'
import type { Management } from './management.ts'
import { publishTouched } from './publication.ts'
import { assertWithinPlan } from './quotas.ts'
import { RecordWriter } from './record-writer.ts'
import { queueDeliveries } from './webhook-outbox.ts'

/** What a change must say of itself. */
export interface Outcome<T> {
  readonly event: ChangeEvent
  readonly result: T
  /** The wire field to blame when what would be published is broken. */
  readonly field?: string
  /** The field of `result` that holds a secret: `null` when the same request comes again. */
  readonly shownOnce?: keyof T & string
}

/**
 * The only way to change configuration. In one transaction, alone in its organization: loads the
 * path, decides access, does the work, writes the audit event, and publishes every definition
 * touched. Resolves after the commit, when the change feed has been told. Work that writes nothing
 * leaves no version and no event; work that throws leaves nothing at all. A request that was
 * done before is answered what it was answered then.
 */
export async function applyChange<Params, Path extends AnyPath, T>(
  management: Management,
  target: Target<Params, Path>,
  work: (writer: RecordWriter, path: Path) => Promise<Outcome<T>>,
): Promise<T> {
  const lock = await lockOf(management, target)
  const { result, hints, isTold } = await management.storage.transaction(lock, async (session) => {
    const made = await makeChange({ session, management, target, lock }, work)
    await management.alongside?.(session)
    return made
  })
  if (isTold) management.wakeWebhooks()
  await announce(management, hints)
  return result
}

/**
 * The organization of a thing never changes, so this names the right lock; inside it, all is loaded
 * anew. What members of an organization may change is nothing but its own: that need not be looked
 * up, and what is foreign is not found inside.
 */
async function lockOf<Params, Path extends AnyPath>(
  management: Management,
  target: Target<Params, Path>,
): Promise<string> {
  const { actor } = management
  const isOwn = actor.role !== 'platform' && mayAs(actor.role, target.permission)
  if (isOwn && actor.orgId !== null) return actor.orgId
  return lockFor(await loadPermitted(management, target))
}

function lockFor({ organization }: AnyPath): string {
  return organization?.id ?? 'platform'
}

interface Change<Params, Path extends AnyPath> {
  /** What the transaction holds. */
  readonly lock: string
  readonly session: StorageSession
  readonly management: Management
  readonly target: Target<Params, Path>
}

interface Made<T> {
  readonly result: T
  readonly hints: readonly FlagSetChange[]
  /** Whether webhooks are to be told. */
  readonly isTold: boolean
}

const NOTHING_MADE = { hints: [], isTold: false } as const

/** The part of a change that is done inside its transaction. */
async function makeChange<Params, Path extends AnyPath, T>(
  { session, management, target, lock }: Change<Params, Path>,
  work: (writer: RecordWriter, path: Path) => Promise<Outcome<T>>,
): Promise<Made<T>> {
  const { clock, actor, idempotentRequest } = management
  const { permission, load, params } = target
  const path = await load(session, { actor, permission }, params)
  if (lockFor(path) !== lock) throw new FlagError('INTERNAL', 'A change held the wrong lock.')
  const writer = new RecordWriter(session, timestampAt(clock))
  const earlier = await findEarlierResult(session, idempotentRequest, writer.now)
  if (earlier !== undefined) return { ...NOTHING_MADE, result: earlier.result as T }
  const outcome = await work(writer, path)
  const answer = { result: withoutSecret(outcome), now: writer.now }
  await rememberResult(session, idempotentRequest, answer)
  if (writer.kinds.size === 0) return { ...NOTHING_MADE, result: outcome.result }
  await assertWithinPlan(session, path.organization, {
    permission,
    eventType: outcome.event.type,
    growthOf: (kind) => writer.balanceOf(kind),
    now: writer.now,
  })
  await keepCounts(session, path.organization, writer)
  // None of these waits for another's writes: what they ask of the store travels together.
  const entry = toNewEntry(outcome.event, path, actor, writer.now)
  const place = findPlace(session, entry)
  const eventId = async () => (await place).id
  const { soundness } = management
  const [hints, isTold] = await Promise.all([
    publish(session, writer, { eventId, field: outcome.field, soundness, path }),
    queueDeliveries(session, entry, eventId),
    place.then((found) => appendAt(session, entry, found)),
  ])
  return { result: outcome.result, hints, isTold }
}

function withoutSecret<T>({ result, shownOnce }: Outcome<T>): unknown {
  return shownOnce === undefined ? result : { ...result, [shownOnce]: null }
}

interface Published extends Pick<Management, 'soundness'> {
  readonly eventId: () => Promise<string>
  readonly field: string | undefined
  readonly path: AnyPath
}

async function publish(
  session: StorageSession,
  { touches, kinds, now: publishedAt }: RecordWriter,
  { eventId, field = '', soundness, path }: Published,
): Promise<readonly FlagSetChange[]> {
  try {
    const occasion = async () => ({ publishedAt, eventId: await eventId() })
    const environment = kinds.has('environment') ? undefined : path.environment
    const hints = await publishTouched(session, touches, { occasion, soundness, environment })
    return kinds.has('sdkKey') ? [...hints, { type: 'sdkKeys' }] : hints
  } catch (error) {
    if (isFlagError(error) && error.code === 'INVALID_DEFINITION')
      throw invalid(field, error.message)
    throw error
  }
}

/** Tells the feed. The change is already kept: a feed that fails only delays what others see. */
async function announce(
  { changeFeed, logger }: Management,
  hints: readonly FlagSetChange[],
): Promise<void> {
  for (const hint of hints) {
    try {
      await changeFeed.publish(hint)
    } catch (cause) {
      logger.warn('the change feed could not be told of a change', { hint, cause })
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
