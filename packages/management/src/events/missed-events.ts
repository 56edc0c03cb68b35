import type { AuditLog, ProjectEvent } from '@ff/protocol/management'
import type { PublishedVersion, Records, Storage } from '@ff/storage'
import { chainIn, chainName, entryId } from '../changes/audit-chain.ts'
import { eventId } from './event-id.ts'

/** The changes of a project are a part of this log of its organization. */
const LOG: AuditLog = 'changes'
/** The number of audit entries per read. */
const ENTRIES_PER_READ = 32
/** The maximum number of versions of an environment per read. */
const VERSIONS_PER_READ = 50
/** The maximum number of positions between a reader and the present, in the whole organization. */
const MAX_GAP = 10_000
/** The maximum number of changes of the project that are sent later. */
const MAX_MISSED = 1000
/** The maximum number of changed flags and segments in one event. */
const MAX_CHANGED = 1000

/** A project and its organization. */
export interface ProjectRef {
  readonly projectId: string
  readonly orgId: string
}

/** A range of positions: after `after`, up to `upTo`. */
interface PositionRange {
  readonly after: number
  readonly upTo: number
}

type StoredEntry = Records['auditEvent']

/** The storage methods that read events. */
type EventStorage = Pick<Storage, 'find' | 'list' | 'listVersions'>

/** Returns the newest position in the organization of a project; 0 if nothing was changed. */
export async function newestPosition(
  storage: EventStorage,
  { orgId }: ProjectRef,
): Promise<number> {
  return (await storage.find('auditHead', chainName(LOG, orgId)))?.sequence ?? 0
}

/** Returns the event without a change. */
export function positionAt({ projectId }: ProjectRef, position: number): ProjectEvent {
  return { event: 'position', id: eventId(projectId, position), data: {} }
}

/** Returns the event after which a reader must load everything. */
export function reloadAt({ projectId }: ProjectRef, position: number): ProjectEvent {
  return { event: 'reload', id: eventId(projectId, position), data: {} }
}

/**
 * Returns the events of a project in a range of positions, in order. Returns `undefined` if there
 * are too many: the reader must load everything. Each change of the project is in the audit chain,
 * and each version names the audit entry of its change.
 */
export async function loadEvents(
  storage: EventStorage,
  project: ProjectRef,
  range: PositionRange,
): Promise<readonly ProjectEvent[] | undefined> {
  if (range.upTo - range.after > MAX_GAP) return undefined
  const entries = await loadEntries(storage, project, range)
  if (entries === undefined) return undefined
  const versions = await loadVersions(storage, project, range)
  // A change of the organization can make versions in its projects.
  for (const id of versions.keys()) {
    if (entries.some((entry) => entry.id === id)) continue
    const entry = await storage.find('auditEvent', id)
    if (entry !== undefined) entries.push(entry)
  }
  const sorted = entries.sort((a, b) => a.sequence - b.sequence)
  const events = sorted.map((entry) => toEvents(project, entry, versions.get(entry.id) ?? []))
  return events.includes(undefined) ? undefined : events.flatMap((each) => each ?? [])
}

async function loadEntries(
  storage: EventStorage,
  { projectId, orgId }: ProjectRef,
  { after, upTo }: PositionRange,
): Promise<StoredEntry[] | undefined> {
  const chain = chainName(LOG, orgId)
  const entries: StoredEntry[] = []
  const to = entryId(chain, upTo + 1)
  const page = { where: { orgId, projectId }, limit: ENTRIES_PER_READ, isCounted: false }
  for (let from = entryId(chain, after + 1); ; ) {
    const { data } = await storage.list('auditEvent', { ...page, range: { field: 'id', from, to } })
    // The payloads of many entries can be large, and no event contains them.
    entries.push(...data.map((entry) => ({ ...entry, payload: {} })))
    if (entries.length > MAX_MISSED) return undefined
    const last = data.at(-1)
    if (last === undefined || data.length < ENTRIES_PER_READ) return entries
    // U+0001 sorts before every printable character, so that no later id is skipped.
    from = `${last.id}\u0001`
  }
}

interface EnvironmentVersion extends PublishedVersion {
  readonly environmentId: string
}

/** Returns the versions of all environments of a project, by the id of their audit entry. */
async function loadVersions(
  storage: EventStorage,
  { projectId, orgId }: ProjectRef,
  { after, upTo }: PositionRange,
): Promise<ReadonlyMap<string, readonly EnvironmentVersion[]>> {
  const chain = chainName(LOG, orgId)
  const byEntry = new Map<string, EnvironmentVersion[]>()
  const { data: environments } = await storage.list('environment', { where: { projectId } })
  const limit = Math.min(VERSIONS_PER_READ, upTo - after + 1)
  for (const { id: environmentId } of environments) {
    for (let before: number | undefined, isOver = false; !isOver; ) {
      const { data } = await storage.listVersions(environmentId, { page: 1, limit, before })
      isOver = data.length < limit
      before = data.at(-1)?.version
      for (const version of data) {
        const sequence = sequenceIn(version, chain)
        if (sequence <= after) isOver = true
        if (sequence <= after || sequence > upTo || version.eventId === null) continue
        const others = byEntry.get(version.eventId) ?? []
        byEntry.set(version.eventId, [...others, { ...version, environmentId }])
      }
    }
  }
  return byEntry
}

/** Returns the position of the change that made a version; 0 if it is not in the chain. */
function sequenceIn({ eventId: id }: PublishedVersion, chain: string): number {
  return id !== null && chainIn(id) === chain ? Number(id.slice(chain.length + 1)) : 0
}

/**
 * Returns the events of a change. Only the last one has an id, so that a reader that has missed the
 * others receives all of them again. Returns `undefined` if the change is too large for an event.
 */
function toEvents(
  { projectId }: ProjectRef,
  { sequence, eventType, streamId, actor }: StoredEntry,
  versions: readonly EnvironmentVersion[],
): readonly ProjectEvent[] | undefined {
  const id = eventId(projectId, sequence)
  const about = { eventType, actor: { id: actor.id, name: actor.name } }
  if (versions.length === 0) {
    const recordId = streamId.slice(streamId.indexOf(':') + 1)
    return [{ event: 'project', id, data: { ...about, id: recordId } }]
  }
  const isLarge = versions.some(({ flags, segments }) => {
    return flags.length + segments.length > MAX_CHANGED
  })
  if (isLarge) return undefined
  return versions.map(({ environmentId, version, flags, segments }, index) => {
    const isLast = index === versions.length - 1
    const changed = { flags: idsOf(flags), segments: idsOf(segments) }
    const data = { environmentId, version, ...about, ...changed }
    return { event: 'version', id: isLast ? id : null, data }
  })
}

function idsOf(changed: readonly { readonly id: string }[]): string[] {
  return changed.map(({ id }) => id)
}
