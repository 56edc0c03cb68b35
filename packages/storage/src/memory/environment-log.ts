import type { FlagSetDefinition } from '@ff/core'
import type {
  DefinitionChange,
  DefinitionChanges,
  FlagHistoryQuery,
  FlagPublication,
  PublishedVersion,
  PublishMetadata,
  VersionPage,
} from '../ports/publications.ts'
import type { Page } from '../ports/storage.ts'
import { type ChangeEntries, toChanges } from '../publication-log/changes.ts'
import {
  contentOf,
  type LogEntry,
  type LogTopic,
  newEntries,
  toFlagHistory,
  toFlagSet,
  topicName,
} from '../publication-log/publication-log.ts'
import { runToEnd } from '../runtime/time-slice.ts'

/** The publication log of one environment. */
export interface EnvironmentLog {
  /** The current version; 0 if nothing has been published. */
  readonly version: number
  /**
   * The newest version, linked to the earlier versions; `undefined` if nothing has been published.
   */
  readonly newest: VersionLink | undefined
  /** The newest entry of each topic, by topic name, linked to the earlier entries of the topic. */
  readonly topics: ReadonlyMap<string, LogLink>
}

interface VersionLink {
  readonly published: PublishedVersion
  readonly clientVersion: number
  readonly previous: VersionLink | undefined
}

interface LogLink {
  readonly entry: LogEntry
  readonly previous: LogLink | undefined
}

/** The log of an environment without publications. */
export const EMPTY_LOG: EnvironmentLog = { version: 0, newest: undefined, topics: new Map() }

/**
 * Returns the log with the changes under its next version. Returns `log` itself if no change has an
 * effect.
 */
export function withPublication(
  log: EnvironmentLog,
  changes: readonly DefinitionChange[],
  { publishedAt, eventId, affectsClients = true }: PublishMetadata,
): EnvironmentLog {
  const version = log.version + 1
  const present = (topic: LogTopic) => presentEntries(log, topic)
  const entries = runToEnd(newEntries({ version, changes, present }))
  if (entries.length === 0) return log
  const topics = new Map(log.topics)
  for (const entry of entries) {
    topics.set(topicName(entry), { entry, previous: topics.get(topicName(entry)) })
  }
  const content = runToEnd(contentOf(entries, { changes, present }))
  const published = { version, publishedAt, eventId, ...content }
  const clientVersion = affectsClients ? version : clientVersionAt(log, log.version)
  return { version, newest: { published, clientVersion, previous: log.newest }, topics }
}

/** Returns one page of the versions, newest first. */
export function versionsOf(
  log: EnvironmentLog,
  { page, limit, before = Number.POSITIVE_INFINITY }: VersionPage,
): Page<PublishedVersion> {
  const versions: PublishedVersion[] = []
  let skipped = (page - 1) * limit
  for (let link = log.newest; link && versions.length < limit; link = link.previous) {
    if (link.published.version >= before) continue
    if (skipped === 0) versions.push(link.published)
    else skipped -= 1
  }
  return { data: versions, total: log.version }
}

/**
 * Returns the flag set at a version; `undefined` if nothing has been published or the version does
 * not exist.
 */
export function flagSetAt(log: EnvironmentLog, version: number): FlagSetDefinition | undefined {
  if (log.version === 0 || version < 0 || version > log.version) return undefined
  const entries = [...log.topics.values()].flatMap((newest) => entriesAt(newest, version))
  const clientVersion = clientVersionAt(log, version)
  return runToEnd(toFlagSet({ version, clientVersion }, entries))
}

/** Returns the changes after version `since`. */
export function changesSince(log: EnvironmentLog, since: number): DefinitionChanges {
  const { version } = log
  const clientVersion = clientVersionAt(log, version)
  return runToEnd(toChanges(changeEntries(log, since), { version, clientVersion, since }))
}

/** Returns the newest publication of a flag up to version `since` and all later ones, oldest first. */
export function flagHistoryOf(
  log: EnvironmentLog,
  { flagId, since }: Pick<FlagHistoryQuery, 'flagId' | 'since'>,
): readonly FlagPublication[] {
  const entries: LogEntry[] = []
  let link = log.topics.get(topicName({ kind: 'flag', id: flagId }))
  for (; link !== undefined; link = link.previous) {
    entries.push(link.entry)
    if (link.entry.version <= since) break
  }
  return runToEnd(toFlagHistory(entries.reverse()))
}

/** Returns the entries that form the current state of a topic, oldest first. */
function presentEntries(log: EnvironmentLog, topic: LogTopic): readonly LogEntry[] {
  const newest = log.topics.get(topicName(topic))
  return newest === undefined ? [] : entriesAt(newest, log.version)
}

/** Returns the entries that form the state of a topic at a version, oldest first. */
function entriesAt(newest: LogLink, version: number): readonly LogEntry[] {
  let link: LogLink | undefined = newest
  while (link !== undefined && link.entry.version > version) link = link.previous
  const baseVersion = link?.entry.baseVersion ?? 0
  const entries: LogEntry[] = []
  for (; link !== undefined && link.entry.version >= baseVersion; link = link.previous) {
    entries.push(link.entry)
  }
  return entries.reverse()
}

/** Returns the entries from which the changes after version `since` are computed. */
function changeEntries(log: EnvironmentLog, since: number): ChangeEntries {
  const newest = [...log.topics.values()]
  const after = newest
    .filter(({ entry }) => entry.version > since)
    .flatMap((link) => entriesAt(link, log.version))
    .filter(({ version }) => version > since)
  const changedIds = new Set(after.filter(({ kind }) => kind !== 'flag').map(({ id }) => id))
  const before = newest
    .filter(({ entry }) => entry.kind !== 'flag' && changedIds.has(entry.id))
    .flatMap((link) => entriesAt(link, since))
  return { after, before }
}

/** Returns the last version up to `version` that affected clients; 0 if there is none. */
function clientVersionAt({ newest }: EnvironmentLog, version: number): number {
  let link = newest
  while (link !== undefined && link.published.version > version) link = link.previous
  return link?.clientVersion ?? 0
}
