import { compareCodePoints, type FlagDefinition } from '@ff/core'
import type { ChangedSegment, KeyChanges, SegmentProperties } from '@ff/core/changes'
import type { DefinitionChanges } from '../ports/publications.ts'
import type { Interruptible } from '../runtime/time-slice.ts'
import { sumOf, toKeyChanges } from './key-differences.ts'
import {
  definitionIn,
  definitionOf,
  type LogEntry,
  type LogTopic,
  topicName,
  type VersionNumbers,
  versionFields,
} from './publication-log.ts'

/** Log entries from which changes are computed. The entries of each topic are in order. */
export interface ChangeEntries {
  /** The entries after a version that belong to the current state of their topic. */
  readonly after: readonly LogEntry[]
  /**
   * The state of the changed segments at the version: their definitions, and each list that has a
   * checkpoint after the version or whose segment was not published at the version. Other lists can
   * be absent, because differences are sufficient for them.
   */
  readonly before: readonly LogEntry[]
}

/** Returns the changes after version `since`. All lists are ordered by id. */
export function* toChanges(
  { after, before }: ChangeEntries,
  { since, ...numbers }: VersionNumbers & { readonly since: number },
): Interruptible<DefinitionChanges> {
  const flags: DefinitionChanges['flags'][number][] = []
  const segmentIds = new Set<string>()
  for (const entry of after) {
    const { kind, id } = definitionOf(entry)
    if (kind === 'segment') segmentIds.add(id)
    else flags.push({ id, definition: (yield* definitionIn(entry.body)) as FlagDefinition | null })
    yield
  }
  const log = { after: byTopic(after), before: byTopic(before), since }
  const segments: ChangedSegment[] = []
  for (const id of segmentIds) {
    const segment = yield* changedSegment(id, log)
    if (segment !== undefined) segments.push(segment)
  }
  return { ...versionFields(numbers), flags: flags.sort(byId), segments: segments.sort(byId) }
}

interface ChangeLog {
  readonly after: ReadonlyMap<string, readonly LogEntry[]>
  readonly before: ReadonlyMap<string, readonly LogEntry[]>
  readonly since: number
}

const NONE: KeyChanges = { added: [], removed: [] }

/** Returns `undefined` if the segment is the same in both flag sets. */
function* changedSegment(id: string, log: ChangeLog): Interruptible<ChangedSegment | undefined> {
  const name = topicName({ kind: 'segment', id })
  const past = log.before.get(name)?.at(-1)
  const changed = log.after.get(name)?.at(-1)
  const present = changed ?? past
  if (present === undefined || present.body === null) {
    return changed && { id, definition: null, included: NONE, excluded: NONE }
  }
  const definition = (yield* definitionIn(present.body)) as SegmentProperties
  const wasPublished = past !== undefined && past.body !== null
  const included = yield* keyChanges({ kind: 'included', id }, log, wasPublished)
  const excluded = yield* keyChanges({ kind: 'excluded', id }, log, wasPublished)
  const keyCounts = [included, excluded].map(({ added, removed }) => added.length + removed.length)
  if (changed === undefined && keyCounts.every((count) => count === 0)) return undefined
  return { id, definition, included, excluded }
}

/**
 * Returns the changes of a list. If the segment was not published at the version, all listed keys
 * are added.
 */
function* keyChanges(
  topic: LogTopic,
  log: ChangeLog,
  wasPublished: boolean,
): Interruptible<KeyChanges> {
  const name = topicName(topic)
  const after = log.after.get(name) ?? []
  const before = log.before.get(name) ?? []
  const hasCheckpoint = (after.at(-1)?.baseVersion ?? 0) > log.since
  const present = yield* differencesIn(
    hasCheckpoint || wasPublished ? after : [...before, ...after],
  )
  if (!hasCheckpoint || !wasPublished) return yield* sumOf(present)
  // A checkpoint contains all keys, so those that were listed before must cancel out.
  const past = yield* sumOf(yield* differencesIn(before))
  return yield* sumOf([{ added: [], removed: past.added }, ...present])
}

function* differencesIn(entries: readonly LogEntry[]): Interruptible<readonly KeyChanges[]> {
  const differences: KeyChanges[] = []
  for (const { body } of entries) {
    differences.push(toKeyChanges(body))
    yield
  }
  return differences
}

function byTopic(entries: readonly LogEntry[]): ReadonlyMap<string, readonly LogEntry[]> {
  const topics = new Map<string, LogEntry[]>()
  for (const entry of entries) {
    const known = topics.get(topicName(entry))
    if (known === undefined) topics.set(topicName(entry), [entry])
    else known.push(entry)
  }
  return topics
}

function byId(left: { readonly id: string }, right: { readonly id: string }): number {
  return compareCodePoints(left.id, right.id)
}
