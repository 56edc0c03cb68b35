import type { PublishedVersion } from '../ports/storage.ts'
import { type LogEntry, type LogTopic, topicName } from '../publication-log/publication-log.ts'

/** The publication log of one environment. */
export interface EnvironmentLog {
  readonly version: number
  readonly newest: VersionLink | undefined
  /** The newest link of each topic's history. */
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

/** The log of an environment of which nothing was published. */
export const EMPTY_LOG: EnvironmentLog = { version: 0, newest: undefined, topics: new Map() }

/** The entries that make up a topic's present state, oldest first. */
export function presentEntries(log: EnvironmentLog, topic: LogTopic): readonly LogEntry[] {
  const newest = log.topics.get(topicName(topic))
  return newest === undefined ? [] : entriesAt(newest, log.version)
}

/** The entries that make up a topic's state at a version, oldest first. */
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

/** The last version up to this one that affected clients; 0 if there is none. */
export function clientVersionAt({ newest }: EnvironmentLog, version: number): number {
  let link = newest
  while (link !== undefined && link.published.version > version) link = link.previous
  return link?.clientVersion ?? 0
}
