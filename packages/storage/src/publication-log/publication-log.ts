import {
  compareCodePoints,
  type FlagDefinition,
  type FlagSetDefinition,
  type SegmentDefinition,
} from '@ff/core'
import type { KeyChanges } from '@ff/core/changes'
import type {
  ChangedDefinition,
  DefinitionChange,
  FlagPublication,
  PublishedSegment,
  PublishedVersion,
} from '../ports/publications.ts'
import type { Interruptible } from '../runtime/time-slice.ts'
import { parseIncrementally, stringifyIncrementally } from './incremental-json.ts'
import { effectOf, foldKeys, isCheckpointDue, toKeyChanges } from './key-differences.ts'
import { SharedValues } from './shared-values.ts'

/** The subject of a log entry: a definition, or one of the two key lists of a segment. */
export interface LogTopic {
  readonly kind: 'flag' | 'segment' | 'included' | 'excluded'
  readonly id: string
}

/**
 * One entry of the publication log of an environment. The state of a topic consists of its entries
 * from the `baseVersion` of its newest entry up to that entry. For a definition, the state is only
 * the newest entry. For listed keys, the state is a checkpoint (a complete list) and the later
 * differences.
 */
export interface LogEntry extends LogTopic {
  /** The version that published the entry. */
  readonly version: number
  /** The version of the oldest entry that is needed to read the state of the topic. */
  readonly baseVersion: number
  /**
   * JSON text: a definition, or `KeyChanges` for listed keys. `null` if the definition is removed.
   */
  readonly body: string | null
}

/** The flags and segments that a version changed. */
export type VersionContent = Pick<PublishedVersion, 'flags' | 'segments'>

/** Returns the topic of a change. */
export function topicOf(change: DefinitionChange): LogTopic {
  return change.kind === 'segmentKeys'
    ? { kind: change.list, id: change.segmentId }
    : { kind: change.kind, id: change.id }
}

/** Returns the topic of the definition to which a topic belongs. */
export function definitionOf({ kind, id }: LogTopic) {
  return { kind: kind === 'flag' ? 'flag' : 'segment', id } as const
}

/** Returns text that identifies the topic. */
export function topicName(topic: LogTopic): string {
  return `${topic.kind} ${topic.id}`
}

interface Publication {
  /** The version of the new entries. */
  readonly version: number
  readonly changes: readonly DefinitionChange[]
  /** Returns the entries that form the current state of a topic, oldest first. */
  readonly present: (topic: LogTopic) => readonly LogEntry[]
}

/** Returns the entries that a publication adds to the log. Changes without effect add none. */
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
 * Returns the flags and segments that the new entries of a publication change, each list ordered by
 * id. If a change does not contain the key of its definition, the key comes from the last
 * publication of that definition.
 */
export function* contentOf(
  entries: readonly LogEntry[],
  { changes, present }: Pick<Publication, 'changes' | 'present'>,
): Interruptible<VersionContent> {
  const newKeys = new Map(changes.map((change) => [topicName(topicOf(change)), keyOf(change)]))
  const keys = { flag: new Map<string, string | null>(), segment: new Map<string, string | null>() }
  for (const entry of entries) {
    const { kind, id } = definitionOf(entry)
    const own = newKeys.get(topicName(entry))
    const key = own ?? keys[kind].get(id) ?? keyIn(present({ kind, id }).at(-1))
    keys[kind].set(id, key)
    yield
  }
  const changed = (known: ReadonlyMap<string, string | null>): ChangedDefinition[] =>
    [...known].map(([id, key]) => ({ id, key })).sort((a, b) => compareCodePoints(a.id, b.id))
  return { flags: changed(keys.flag), segments: changed(keys.segment) }
}

function keyOf(change: DefinitionChange): string | null {
  return change.kind === 'segmentKeys' ? null : (change.definition?.key ?? null)
}

function keyIn(entry: LogEntry | undefined): string | null {
  if (entry === undefined || entry.body === null) return null
  const { key }: { readonly key: string } = JSON.parse(entry.body)
  return key
}

/** A version of an environment and its client version. */
export interface VersionNumbers {
  readonly version: number
  /** The last version up to `version` that affected clients. */
  readonly clientVersion: number
}

/** Returns the version numbers, without `clientVersion` if it equals `version`. */
export function versionFields({ version, clientVersion }: VersionNumbers) {
  return clientVersion === version ? { version } : { version, clientVersion }
}

/**
 * Returns the flag set that results from `entries`. They must contain the state of every topic,
 * with the oldest entry of each topic first.
 */
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

/** Returns the publications of a flag from its entries. */
export function* toFlagHistory(
  entries: readonly LogEntry[],
): Interruptible<readonly FlagPublication[]> {
  const history: FlagPublication[] = []
  for (const { version, body } of entries) {
    history.push({ version, definition: (yield* definitionIn(body)) as FlagDefinition | null })
    yield
  }
  return history
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
  const known = present.map(({ body }) => toKeyChanges(body))
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

/** Parses the body of a log entry of a definition. */
export function* definitionIn(body: string | null): Interruptible<unknown> {
  return body === null ? null : yield* parseIncrementally(body)
}

/** The values that the definitions of all flag sets share. */
const shared = new SharedValues()

function* fold(entries: readonly LogEntry[]): Interruptible<Definitions> {
  const flags = new Map<string, FlagDefinition | null>()
  const published = new Map<string, PublishedSegment | null>()
  const differences = new Map<string, KeyChanges[]>()
  for (const entry of entries) {
    const { kind, id, body } = entry
    if (kind === 'flag' || kind === 'segment') {
      const definition = shared.share(yield* definitionIn(body))
      if (kind === 'flag') flags.set(id, definition as FlagDefinition | null)
      else published.set(id, definition as PublishedSegment | null)
    } else {
      const known = differences.get(topicName(entry))
      if (known === undefined) differences.set(topicName(entry), [toKeyChanges(body)])
      else known.push(toKeyChanges(body))
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
