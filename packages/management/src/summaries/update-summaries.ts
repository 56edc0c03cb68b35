import { jsonEquals } from '@ff/core'
import type { FlagSetChange, Records, StorageSession } from '@ff/storage'
import {
  type Derivation,
  deriveSummary,
  isComplete,
  loadScope,
  type PublishedFlags,
  type SummaryScope,
} from './derive-summary.ts'
import { marksOf } from './summarize.ts'

/**
 * The number of flags that are updated, or of scopes that are loaded, concurrently. This is faster
 * than one after another.
 */
const PORTION = 32

/** An entity that a change affects: a flag, or all flags and segments of an environment. */
interface ChangedEntity extends SummaryScope {
  readonly segmentId?: string | undefined
}

/** The versions that a change has published, and their cause. */
export interface PublishCause extends Omit<PublishedFlags, 'versions'> {
  /** The hints about the versions. */
  readonly hints: readonly FlagSetChange[]
  /** The id of the audit event of the change. */
  readonly eventId: string
}

/** The flags of a scope, and the records from which their summaries are derived. */
export interface LoadedScope extends Pick<Derivation, 'scope' | 'records'> {
  readonly flags: readonly Records['flag'][]
}

/**
 * Loads all flags that the entities name, with the records from which their summaries are derived.
 * Can run while the versions of a change are published, but not before its records are written.
 */
export async function loadSummarized(
  session: StorageSession,
  entities: readonly ChangedEntity[],
): Promise<readonly LoadedScope[]> {
  const scopes = scopesOf(entities)
  const loaded: LoadedScope[] = []
  for (let start = 0; start < scopes.length; start += PORTION) {
    const portion = scopes.slice(start, start + PORTION)
    const found = await Promise.all(portion.map((scope) => loadFlags(session, scope)))
    loaded.push(...found.filter((scope) => scope !== undefined))
  }
  return loaded
}

/**
 * Derives the summaries of all loaded flags, and stores those that differ. Runs in the transaction
 * of the change, after its versions were published. The revisions of the flags stay the same,
 * because a summary repeats what other records contain.
 */
export async function updateSummaries(
  session: StorageSession,
  loaded: readonly LoadedScope[],
  cause?: PublishCause,
): Promise<void> {
  if (loaded.length === 0) return
  // The derivations wait for it only when they need it.
  const published = cause && loadPublishedFlags(session, cause)
  const updateAll = async () => {
    for (const scope of loaded) await updateScope(session, scope, published)
  }
  await Promise.all([published, updateAll()])
}

/** Derives the summaries of all flags that the entities name, without a publication. */
export async function rederiveSummaries(
  session: StorageSession,
  entities: readonly ChangedEntity[],
): Promise<void> {
  await updateSummaries(session, await loadSummarized(session, entities))
}

/** Returns the scopes of the entities, without those that another scope contains. */
function scopesOf(entities: readonly ChangedEntity[]): readonly SummaryScope[] {
  const nameOf = ({ flagId = '', environmentId = '' }: SummaryScope) => `${flagId} ${environmentId}`
  const scopes = new Map<string, SummaryScope>()
  for (const { projectId, flagId, environmentId, segmentId } of entities) {
    const scope = { projectId, flagId, environmentId }
    if (segmentId === undefined) scopes.set(nameOf(scope), scope)
  }
  return [...scopes.values()].filter(({ projectId, flagId, environmentId }) => {
    if (flagId === undefined || environmentId === undefined) return true
    const wider = [
      { projectId, flagId },
      { projectId, environmentId },
    ]
    return !wider.some((scope) => scopes.has(nameOf(scope)))
  })
}

/** Returns the flags of a scope with their records; `undefined` if it has no flags. */
async function loadFlags(
  session: StorageSession,
  scope: SummaryScope,
): Promise<LoadedScope | undefined> {
  const { projectId, flagId, environmentId } = scope
  const flags =
    flagId === undefined
      ? (await session.list('flag', { where: { projectId } })).data
      : [await session.find('flag', flagId)].filter((flag) => flag !== undefined)
  if (flags.length === 0) return undefined
  const isWithoutSummary = flags.some(({ summary }) => !isComplete(summary))
  if (isWithoutSummary && flagId !== undefined && environmentId !== undefined) {
    return loadFlags(session, { projectId, flagId })
  }
  return { scope, flags, records: await loadScope(session, scope) }
}

async function updateScope(
  session: StorageSession,
  { scope, flags, records }: LoadedScope,
  published: Derivation['published'],
): Promise<void> {
  // A job derives the summaries that are missing.
  const updated = flags.filter(({ summary }) => summary !== null || scope.flagId !== undefined)
  for (let start = 0; start < updated.length; start += PORTION) {
    const portion = updated.slice(start, start + PORTION)
    await Promise.all(
      portion.map((flag) => updateSummary(session, { flag, scope, records, published })),
    )
  }
}

async function updateSummary(session: StorageSession, derivation: Derivation): Promise<void> {
  const { flag } = derivation
  const summary = await deriveSummary(session, derivation)
  const marks = marksOf(flag, summary)
  const isSame = jsonEquals([flag.summary, flag.marks] as never, [summary, marks] as never)
  if (!isSame) await session.update('flag', flag.id, { summary, marks })
}

/** Returns the flags that the versions of a change have changed. */
async function loadPublishedFlags(
  session: Pick<StorageSession, 'listVersions'>,
  { hints, publishedAt, actorName, eventId }: PublishCause,
): Promise<PublishedFlags> {
  const versions = new Map<string, { version: number; flagIds: ReadonlySet<string> }>()
  for (const hint of hints) {
    if (hint.type !== 'flagSet') continue
    // A change publishes at most two versions: definitions, and then listed keys.
    const newest = await session.listVersions(hint.environmentId, { page: 1, limit: 2 })
    const own = newest.data.filter((published) => published.eventId === eventId)
    const changing = own.find(({ flags }) => flags.length > 0)
    if (changing === undefined) continue
    const flagIds = new Set(changing.flags.map(({ id }) => id))
    versions.set(hint.environmentId, { version: changing.version, flagIds })
  }
  return { publishedAt, actorName, versions }
}
