import {
  compareCodePoints,
  type FlagDefinition,
  type FlagSetDefinition,
  type SegmentDefinition,
} from '@ff/core'
import type {
  ChangedDefinition,
  DefinitionChange,
  DefinitionChanges,
  PublishedSegment,
  PublishedVersion,
} from '../ports/storage.ts'
import type { Interruptible } from '../runtime/time-slice.ts'
import { parseIncrementally, stringifyIncrementally } from './incremental-json.ts'
import {
  effectOf,
  foldKeys,
  isCheckpointDue,
  type KeyDifference,
  toKeyDifference,
} from './key-differences.ts'

/** What one line of history is about: a definition, or one of a segment's two lists of keys. */
export interface LogTopic {
  readonly kind: 'flag' | 'segment' | 'included' | 'excluded'
  readonly id: string
}

/**
 * One entry of an environment's publication log. The state of a topic is made of its entries
 * from the newest one's `baseVersion` up to the newest one: of a definition, just the newest;
 * of listed keys, a checkpoint and the differences since.
 */
export interface LogEntry extends LogTopic {
  readonly version: number
  readonly baseVersion: number
  /** The definition as JSON text, `null` when it is gone; of listed keys, a `KeyDifference`. */
  readonly body: string | null
}

/** What a version changed. */
export type VersionContent = Pick<PublishedVersion, 'flags' | 'segments'>

/** Returns the topic that a change is about. */
export function topicOf(change: DefinitionChange): LogTopic {
  return change.kind === 'segmentKeys'
    ? { kind: change.list, id: change.segmentId }
    : { kind: change.kind, id: change.id }
}

/** The definition that a topic is, or is a part of. */
export function definitionOf({ kind, id }: LogTopic) {
  return { kind: kind === 'flag' ? 'flag' : 'segment', id } as const
}

/** A text that no other topic has. */
export function topicName(topic: LogTopic): string {
  return `${topic.kind} ${topic.id}`
}

interface Publication {
  /** What the new entries are published under. */
  readonly version: number
  readonly changes: readonly DefinitionChange[]
  /** The entries that make up a topic's present state, oldest first. */
  readonly present: (topic: LogTopic) => readonly LogEntry[]
}

/** The entries that a publication adds to the log: none for what is published already. */
export function* newEntries({
  version,
  changes,
  present,
}: Publication): Interruptible<readonly LogEntry[]> {
  const entries: LogEntry[] = []
  for (const changesOfTopic of groupByTopic(changes)) {
    const topic = topicOf(changesOfTopic[0])
    const isDefinition = topic.kind === 'flag' || topic.kind === 'segment'
    const change = { topic, version, changes: changesOfTopic, present: present(topic) }
    const entry = yield* isDefinition ? definitionEntry(change) : keysEntry(change)
    if (entry !== undefined) entries.push(entry)
    yield
  }
  return entries
}

/**
 * What the new entries of a publication change, each list ordered by id. The key of what is gone,
 * or of whose listed keys changed, is found in what was published before.
 */
export function* contentOf(
  entries: readonly LogEntry[],
  { changes, present }: Pick<Publication, 'changes' | 'present'>,
): Interruptible<VersionContent> {
  const given = new Map(changes.map((change) => [topicName(topicOf(change)), keyGivenBy(change)]))
  const keys = { flag: new Map<string, string | null>(), segment: new Map<string, string | null>() }
  for (const entry of entries) {
    const { kind, id } = definitionOf(entry)
    const own = given.get(topicName(entry))
    const key = own ?? keys[kind].get(id) ?? keyIn(present({ kind, id }).at(-1))
    keys[kind].set(id, key)
    yield
  }
  const changed = (known: ReadonlyMap<string, string | null>): ChangedDefinition[] =>
    [...known].map(([id, key]) => ({ id, key })).sort((a, b) => compareCodePoints(a.id, b.id))
  return { flags: changed(keys.flag), segments: changed(keys.segment) }
}

function keyGivenBy(change: DefinitionChange): string | null {
  return change.kind === 'segmentKeys' ? null : (change.definition?.key ?? null)
}

function keyIn(entry: LogEntry | undefined): string | null {
  if (entry === undefined || entry.body === null) return null
  const { key }: { readonly key: string } = JSON.parse(entry.body)
  return key
}

/** A version of an environment, and the last one up to it that affected clients. */
export interface VersionNumbers {
  readonly version: number
  readonly clientVersion: number
}

/** The client version is left out where it is the version. */
function versionFields({ version, clientVersion }: VersionNumbers) {
  return clientVersion === version ? { version } : { version, clientVersion }
}

/** The flag set that these entries (of every topic, each oldest first) make up. */
export function* toFlagSet(
  numbers: VersionNumbers,
  entries: readonly LogEntry[],
): Interruptible<FlagSetDefinition> {
  const { flags, segments } = yield* fold(entries)
  return {
    ...versionFields(numbers),
    flags: [...flags.values()]
      .filter((definition) => definition !== null)
      .sort((a, b) => compareCodePoints(a.key, b.key) || compareCodePoints(a.id, b.id)),
    segments: [...segments.values()]
      .filter((definition) => definition !== null)
      .sort((a, b) => compareCodePoints(a.id, b.id)),
  }
}

/**
 * What changed after `since`, of entries that hold the state of every changed flag, and of the
 * definition and both lists of every segment of which any of these changed.
 */
export function* toChanges(
  entries: readonly LogEntry[],
  { since, ...numbers }: VersionNumbers & { readonly since: number },
): Interruptible<DefinitionChanges> {
  const goneBefore = new Set<string>()
  for (const { kind, id, version: changedAt, body } of entries) {
    if (kind === 'segment' && body === null && changedAt <= since) goneBefore.add(id)
  }
  const { flags, segments } = yield* fold(entries)
  const changed = <T>(definitions: ReadonlyMap<string, T>) =>
    [...definitions]
      .map(([id, definition]) => ({ id, definition }))
      .sort((a, b) => compareCodePoints(a.id, b.id))
  return {
    ...versionFields(numbers),
    flags: changed(flags),
    segments: changed(segments).filter(({ id }) => !goneBefore.has(id)),
  }
}

type Changes = [DefinitionChange, ...DefinitionChange[]]

function groupByTopic(changes: readonly DefinitionChange[]): Iterable<Changes> {
  const groups = new Map<string, Changes>()
  for (const change of changes) {
    const name = topicName(topicOf(change))
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [change])
    else group.push(change)
  }
  return groups.values()
}

interface TopicChange {
  readonly topic: LogTopic
  readonly version: number
  readonly changes: readonly DefinitionChange[]
  readonly present: readonly LogEntry[]
}

function* definitionEntry(change: TopicChange): Interruptible<LogEntry | undefined> {
  const { topic, version, present } = change
  const last = change.changes.at(-1)
  const definition = last === undefined || last.kind === 'segmentKeys' ? null : last.definition
  const body = definition === null ? null : yield* stringifyIncrementally(definition)
  if (body === (present.at(-1)?.body ?? null)) return undefined
  return { ...topic, version, baseVersion: version, body }
}

function* keysEntry({
  topic,
  version,
  changes,
  present,
}: TopicChange): Interruptible<LogEntry | undefined> {
  const known = present.map(({ body }) => toKeyDifference(body))
  yield
  const difference = yield* effectOf(changes, known)
  if (difference.added.length + difference.removed.length === 0) return undefined
  const base = present[0]
  if (base !== undefined && !isCheckpointDue([...known, difference])) {
    const body = JSON.stringify(difference)
    return { ...topic, version, baseVersion: base.version, body }
  }
  const checkpoint = { added: [...(yield* foldKeys([...known, difference]))], removed: [] }
  return { ...topic, version, baseVersion: version, body: JSON.stringify(checkpoint) }
}

interface Definitions {
  readonly flags: ReadonlyMap<string, FlagDefinition | null>
  readonly segments: ReadonlyMap<string, SegmentDefinition | null>
}

function* definitionIn(body: string | null): Interruptible<unknown> {
  return body === null ? null : yield* parseIncrementally(body)
}

function* fold(entries: readonly LogEntry[]): Interruptible<Definitions> {
  const flags = new Map<string, FlagDefinition | null>()
  const published = new Map<string, PublishedSegment | null>()
  const differences = new Map<string, KeyDifference[]>()
  for (const entry of entries) {
    const { kind, id, body } = entry
    if (kind === 'flag') flags.set(id, (yield* definitionIn(body)) as FlagDefinition | null)
    else if (kind === 'segment')
      published.set(id, (yield* definitionIn(body)) as PublishedSegment | null)
    else {
      const known = differences.get(topicName(entry))
      if (known === undefined) differences.set(topicName(entry), [toKeyDifference(body)])
      else known.push(toKeyDifference(body))
    }
    yield
  }
  const keysOf = (topic: LogTopic) => foldKeys(differences.get(topicName(topic)) ?? [])
  const segments = new Map<string, SegmentDefinition | null>()
  for (const [id, segment] of published) {
    const included = [...(yield* keysOf({ kind: 'included', id }))]
    const excluded = [...(yield* keysOf({ kind: 'excluded', id }))]
    segments.set(id, segment === null ? null : { ...segment, included, excluded })
  }
  return { flags, segments }
}
