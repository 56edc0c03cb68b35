import type { PublishedVersion } from '../ports/publications.ts'
import type { ChangeEntries } from '../publication-log/changes.ts'
import { type LogEntry, type LogTopic, topicName } from '../publication-log/publication-log.ts'

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

/** Returns the entries that form the current state of a topic, oldest first. */
export function presentEntries(log: EnvironmentLog, topic: LogTopic): readonly LogEntry[] {
  const newest = log.topics.get(topicName(topic))
  return newest === undefined ? [] : entriesAt(newest, log.version)
}

/** Returns the entries that form the state of a topic at a version, oldest first. */
export function entriesAt(newest: LogLink, version: number): readonly LogEntry[] {
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
export function changeEntries(log: EnvironmentLog, since: number): ChangeEntries {
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
export function clientVersionAt({ newest }: EnvironmentLog, version: number): number {
  let link = newest
  while (link !== undefined && link.published.version > version) link = link.previous
  return link?.clientVersion ?? 0
}
