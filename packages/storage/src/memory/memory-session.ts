import { compareCodePoints, type FlagSetDefinition } from '@ff/core'
import { refuseToPurgeAll } from '../ports/purge-query.ts'
import {
  keyTaken,
  recordNotFound,
  staleRevision,
  transactionEnded,
} from '../ports/record-errors.ts'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import { assertFinite, storableWhere } from '../ports/storable.ts'
import type {
  Changes,
  ContextSighting,
  DefinitionChange,
  DefinitionChanges,
  EvaluationCount,
  EvaluationCountQuery,
  EvaluationTotal,
  ListQuery,
  Page,
  PublicationOccasion,
  PublishedVersion,
  PurgeQuery,
  StorageSession,
  VersionPage,
} from '../ports/storage.ts'
import {
  contentOf,
  type LogTopic,
  newEntries,
  toChanges,
  toFlagSet,
  topicName,
} from '../publication-log/publication-log.ts'
import { runToEnd } from '../runtime/time-slice.ts'
import { mergeSightings, sightAgain, sightingName } from '../usage/context-samples.ts'
import { countName, mergeCounts, sumOf, totalsOf } from '../usage/evaluation-counts.ts'
import {
  clientVersionAt,
  EMPTY_LOG,
  type EnvironmentLog,
  entriesAt,
  presentEntries,
} from './environment-log.ts'
import { fieldOf, matches, pageOf } from './memory-query.ts'
import { Draft } from './overlay.ts'

/** What is committed. */
export interface MemoryState {
  readonly records: { readonly [K in Kind]: Map<string, Records[K]> }
  readonly logs: Map<string, EnvironmentLog>
  readonly counts: Map<string, EvaluationCount>
}

type Drafts = { readonly [K in Kind]: Draft<Records[K]> }

/** Sees what is committed and its own changes, which nobody else sees before `commit`. */
export class MemorySession implements StorageSession {
  readonly #records: Drafts
  readonly #logs: Draft<EnvironmentLog>
  readonly #counts: Draft<EvaluationCount>
  #ended = false

  constructor(state: MemoryState) {
    const drafts = Object.entries(state.records).map(([kind, map]) => [
      kind,
      new Draft<unknown>(map),
    ])
    this.#records = Object.fromEntries(drafts) as Drafts
    this.#logs = new Draft(state.logs)
    this.#counts = new Draft(state.counts)
  }

  async find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const record = this.#draft(kind).get(id)
    return record !== undefined && isLiving(record) ? record : undefined
  }

  async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    const where = storableWhere(kind, query.where)
    return pageOf(kind, [...this.#draft(kind).values()].filter(isLiving), { ...query, where })
  }

  async insert<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    assertFinite(record)
    const draft = this.#draft(kind)
    if (draft.get(record.id) !== undefined) throw keyTaken()
    this.#refuseTakenKeys(kind, record)
    draft.set(record.id, frozenCopy(record))
  }

  async update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    assertFinite(changes)
    const draft = this.#draft(kind)
    const record = draft.get(id)
    if (record === undefined || !isLiving(record)) throw recordNotFound(kind, id)
    if (expectedRevision !== undefined && fieldOf(record, 'revision') !== expectedRevision) {
      throw staleRevision(kind, id)
    }
    const changed = frozenCopy({ ...record, ...withoutUndefined(changes) })
    this.#refuseTakenKeys(kind, changed)
    draft.set(id, changed)
    return changed
  }

  async revive<K extends Kind>(kind: K, id: string): Promise<Records[K]> {
    const draft = this.#draft(kind)
    const record = draft.get(id)
    if (record === undefined || isLiving(record)) throw recordNotFound(kind, id)
    const revived = frozenCopy({ ...record, deletedAt: null })
    this.#refuseTakenKeys(kind, revived)
    draft.set(id, revived)
    return revived
  }

  async publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    { publishedAt, eventId, affectsClients = true }: PublicationOccasion,
  ): Promise<number> {
    const log = this.#log(environmentId)
    const version = log.version + 1
    const present = (topic: LogTopic) => presentEntries(log, topic)
    const entries = runToEnd(newEntries({ version, changes, present }))
    if (entries.length === 0) return log.version
    const topics = new Map(log.topics)
    for (const entry of entries) {
      topics.set(topicName(entry), { entry, previous: topics.get(topicName(entry)) })
    }
    const content = runToEnd(contentOf(entries, { changes, present }))
    const published = { version, publishedAt, eventId, ...content }
    const clientVersion = affectsClients ? version : clientVersionAt(log, log.version)
    const newest = { published, clientVersion, previous: log.newest }
    this.#logs.set(environmentId, { version, newest, topics })
    return version
  }

  async listVersions(
    environmentId: string,
    { page, limit }: VersionPage,
  ): Promise<Page<PublishedVersion>> {
    const log = this.#log(environmentId)
    const versions: PublishedVersion[] = []
    for (let link = log.newest; link !== undefined; link = link.previous) {
      versions.push(link.published)
    }
    return { data: versions.slice((page - 1) * limit, page * limit), total: log.version }
  }

  async loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    const log = this.#log(environmentId)
    const version = at ?? log.version
    if (log.version === 0 || version < 0 || version > log.version) return undefined
    const entries = [...log.topics.values()].flatMap((newest) => entriesAt(newest, version))
    const clientVersion = clientVersionAt(log, version)
    return runToEnd(toFlagSet({ version, clientVersion }, entries))
  }

  async loadChanges(environmentId: string, since: number): Promise<DefinitionChanges> {
    const log = this.#log(environmentId)
    const changedSegments = new Set<string>()
    for (const { entry } of log.topics.values()) {
      if (entry.kind !== 'flag' && entry.version > since) changedSegments.add(entry.id)
    }
    const entries = [...log.topics.values()].flatMap((newest) => {
      const { kind, id, version } = newest.entry
      const isChanged = kind === 'flag' ? version > since : changedSegments.has(id)
      return isChanged ? entriesAt(newest, log.version) : []
    })
    const { version } = log
    const clientVersion = clientVersionAt(log, version)
    return runToEnd(toChanges(entries, { version, clientVersion, since }))
  }

  async addEvaluationCounts(counts: readonly EvaluationCount[]): Promise<void> {
    const draft = this.#counted()
    for (const count of mergeCounts(counts)) {
      const name = countName(count)
      // A copy: what the caller does with its own afterwards is not counted.
      draft.set(name, sumOf(draft.get(name), { ...count }))
    }
  }

  async loadEvaluationCounts(query: EvaluationCountQuery): Promise<readonly EvaluationTotal[]> {
    const { environmentId, flagId, from, to } = query
    const counts = [...this.#counted().values()].filter(
      (count) =>
        count.environmentId === environmentId &&
        count.flagId === flagId &&
        compareCodePoints(count.minute, from) >= 0 &&
        compareCodePoints(count.minute, to) < 0,
    )
    return totalsOf(counts)
  }

  async dropEvaluationCounts(beforeMinute: string): Promise<void> {
    const draft = this.#counted()
    for (const [name, { minute }] of draft.entries()) {
      if (compareCodePoints(minute, beforeMinute) < 0) draft.delete(name)
    }
  }

  async recordSightings(sightings: readonly ContextSighting[]): Promise<void> {
    const draft = this.#draft('observedContext')
    const merged = mergeSightings(sightings)
    const hashes = new Set(merged.map(({ hash }) => hash))
    const alike = [...draft.values()].filter((record) => hashes.has(record.hash))
    const known = new Map(alike.filter(isLiving).map((record) => [sightingName(record), record]))
    const seen = new Map<string, Records['observedContext']>()
    for (const sighting of merged) {
      const record = known.get(sightingName(sighting))
      const isNew = record === undefined
      if (isNew && (draft.get(sighting.id) ?? seen.get(sighting.id)) !== undefined) throw keyTaken()
      const next = isNew ? sighting : sightAgain(record, sighting)
      seen.set(next.id, frozenCopy({ ...next, deletedAt: null }))
    }
    for (const [id, record] of seen) draft.set(id, record)
  }

  async purge<K extends Kind>(kind: K, query: PurgeQuery<K>): Promise<number> {
    refuseToPurgeAll(query)
    const draft = this.#draft(kind)
    const where = storableWhere(kind, query.where)
    const isPurged = (record: Records[K]) => matches(kind, record, { ...query, where })
    const purged = [...draft.entries()].filter(([, record]) => isPurged(record))
    for (const [id] of purged) draft.delete(id)
    return purged.length
  }

  /** Makes the changes everybody's, all at once. */
  commit(): void {
    for (const draft of Object.values(this.#records)) draft.commit()
    this.#logs.commit()
    this.#counts.commit()
  }

  /** Refuses all further calls. */
  end(): void {
    this.#ended = true
  }

  #draft<K extends Kind>(kind: K): Draft<Records[K]> {
    if (this.#ended) throw transactionEnded()
    return this.#records[kind]
  }

  #log(environmentId: string): EnvironmentLog {
    if (this.#ended) throw transactionEnded()
    return this.#logs.get(environmentId) ?? EMPTY_LOG
  }

  #counted(): Draft<EvaluationCount> {
    if (this.#ended) throw transactionEnded()
    return this.#counts
  }

  #refuseTakenKeys<K extends Kind>(kind: K, record: Records[K]): void {
    const { unique } = KIND_RULES[kind]
    if (unique.length === 0 || !isLiving(record)) return
    for (const other of this.#draft(kind).values()) {
      if (other.id === record.id || !isLiving(other)) continue
      const isTaken = unique.some((fields) =>
        fields.every((field) => fieldOf(other, field) === fieldOf(record, field)),
      )
      if (isTaken) throw keyTaken()
    }
  }
}

function isLiving(record: object): boolean {
  return (fieldOf(record, 'deletedAt') ?? null) === null
}

function withoutUndefined(changes: object): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

/** What JSON would make of it, which is how every other store keeps a record; texts stay the same. */
function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T
  const members = Object.entries(value).filter(([, part]) => part !== undefined)
  const copies = members.map(([name, part]) => [name, frozenCopy(part)])
  return Object.freeze(Object.fromEntries(copies))
}
