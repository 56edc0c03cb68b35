import type {
  EvaluationReason,
  FlagDefinition,
  FlagSetDefinition,
  SegmentDefinition,
} from '@ff/core'
import type { DefinitionDelta } from '@ff/core/changes'
import type { Kind, Records } from './records.ts'

/**
 * What a store can do, inside a transaction or outside of one.
 *
 * Adapters invent nothing: ids and timestamps arrive in the record. Deleting a record is an
 * `update` with `deletedAt`; `find` and `list` never show deleted records. Text is kept exactly
 * as it came, but for U+0000 and unpaired surrogates, which not every store can keep outside of
 * JSON fields; of context samples they are kept as U+FFFD. Numbers are finite.
 *
 * A refused call (`NOT_FOUND`, `CONFLICT`, or `INVALID_REQUEST` for a value that the store cannot
 * keep) changes nothing, and a transaction in which it was refused may go on. `UNAVAILABLE` means
 * that the store cannot be reached or written; a transaction that met it keeps nothing.
 */
export interface StorageSession {
  /** The living record with this id. */
  find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined>

  /** One page of living records; ties of the sort are broken by id, ascending. */
  list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>>

  /** Throws `CONFLICT` when the id, or a unique key among the living, is taken. */
  insert<K extends Kind>(kind: K, record: Records[K]): Promise<void>

  /**
   * Changes some fields of a living record and answers the whole record as it now is. Fields
   * that are `undefined` stay as they are. Throws `NOT_FOUND` when there is no such record,
   * `CONFLICT` when `expectedRevision` is given and is not the record's, or when a unique key
   * is taken. The caller sets `revision`.
   */
  update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]>

  /**
   * Makes a deleted record living again, otherwise as it was, and answers it. Throws `NOT_FOUND`
   * when there is no deleted record with this id, `CONFLICT` when a unique key of it has been
   * taken meanwhile.
   */
  revive<K extends Kind>(kind: K, id: string): Promise<Records[K]>

  /**
   * Appends changed definitions to the environment's publication log under its next version,
   * and answers that version. Changes that equal what is already published (the same JSON text;
   * listed keys that are there, or are not) are left out; when none remains, nothing is appended
   * and the present version is answered. Of several changes of one definition the last counts.
   */
  publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    metadata: PublishMetadata,
  ): Promise<number>

  /** One page of the environment's versions, the newest first; none before the first. */
  listVersions(environmentId: string, page: VersionPage): Promise<Page<PublishedVersion>>

  /**
   * Everything needed to evaluate the environment: now, or exactly as it was at version `at`.
   * Flags are ordered by key, segments by id, listed keys by when they were added. `clientVersion`
   * is that of the last version up to this one that affected clients, absent if it is this one.
   * Returns `undefined` if nothing was ever published or `at` lies in the future; version 0 is empty.
   */
  loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined>

  /** The newest state of each definition that changed after version `since`, ordered by id. */
  loadChanges(environmentId: string, since: number): Promise<DefinitionChanges>

  /**
   * Adds to what is counted already under the same environment, flag, minute and outcome. Throws
   * `INVALID_REQUEST`, and adds nothing, if one of the counts cannot be kept.
   */
  addEvaluationCounts(counts: readonly EvaluationCount[]): Promise<void>

  /** What was counted for one flag in one environment, one total for each outcome, in no order. */
  loadEvaluationCounts(query: EvaluationCountQuery): Promise<readonly EvaluationTotal[]>

  /** Forgets what was counted in minutes before this one. */
  dropEvaluationCounts(beforeMinute: string): Promise<void>

  /**
   * Adds to the living `observedContext` of the same environment and hash: its count grows, what
   * was seen last replaces what was seen before, `firstSeen` stays the earliest and `lastSeen`
   * the latest. A context that is not there yet is added, with the id of its sample; throws
   * `CONFLICT` when that is taken. In all texts, the names and texts in `contextJson` included,
   * U+FFFD takes the place of each U+0000 and each unpaired surrogate, also in the `where` of
   * queries for this kind: a context is found by the key it was seen with. Throws
   * `INVALID_REQUEST`, and adds nothing, if one of the samples cannot be kept.
   */
  recordContextSamples(samples: readonly ContextSample[]): Promise<void>

  /**
   * Removes records for ever, deleted ones too, and answers how many they were. For what may, or
   * must, be forgotten; never for configuration. Throws `INTERNAL` when the query names no field.
   */
  purge<K extends Kind>(kind: K, query: PurgeQuery<K>): Promise<number>
}

/** How evaluations of a flag ended. */
export interface EvaluationOutcome {
  /** null when there was nothing to serve. */
  readonly variationId: string | null
  readonly reason: EvaluationReason
  readonly source: EvaluationSource
}

/**
 * Where evaluations come from: the transport over which the server answered; `sdk`, a call in
 * process or a report with a server key; `client`, a report with a client key, which is public.
 */
export type EvaluationSource = ContextSample['source'] | 'client'

/** How often a flag was evaluated in one minute with the same outcome. */
export interface EvaluationCount extends EvaluationOutcome {
  readonly environmentId: string
  readonly flagId: string
  /** The timestamp at which the minute begins. */
  readonly minute: string
  /** How many. */
  readonly count: number
  /** How long all of them took together, in microseconds, rounded to a whole number. */
  readonly micros: number
}

/** Which counts to add up. */
export interface EvaluationCountQuery {
  readonly environmentId: string
  readonly flagId: string
  /** Timestamps of minutes: `from <= minute < to`. */
  readonly from: string
  readonly to: string
}

/** The evaluations of one outcome. */
export interface EvaluationTotal extends EvaluationOutcome {
  readonly count: number
  readonly micros: number
}

/** One or more evaluations of a context. */
export type ContextSample = Omit<Records['observedContext'], 'deletedAt'>

/** Where everything that must not be lost is kept. */
export interface Storage extends StorageSession {
  /**
   * Brings the store to the schema of this release, or throws `UNAVAILABLE`: a store of a later
   * release is refused. To be called before anything else; calling it again, or from several
   * processes at once, does no harm.
   */
  migrate(): Promise<void>

  /**
   * Runs `work` so that either all of it is kept or nothing, durably once this resolves.
   * Transactions with the same `lock` (an organization's id, or `platform`) run one after
   * another. Inside, only the given session may be used: the store itself may be waiting for
   * this very transaction. Others see nothing of it before it has ended.
   */
  transaction<T>(lock: string, work: (tx: StorageSession) => Promise<T>): Promise<T>

  /** Lets what was begun end, then refuses everything with `UNAVAILABLE`. May be called again. */
  close(): Promise<void>
}

/** Fields of a record that may change; `id` and `createdAt` never do. */
export type Changes<K extends Kind> = Partial<Omit<Records[K], 'id' | 'createdAt'>>

/** Which records to list, and in which order. */
export interface ListQuery<K extends Kind> {
  /** Equality, `null` included, on fields that are not arrays or objects. */
  readonly where?: Partial<Records[K]>
  /** `from <= field < to`, on a field that is text, such as a timestamp. */
  readonly range?: {
    readonly field: keyof Records[K] & string
    readonly from?: string
    readonly to?: string
  }
  /** Text that must occur, ignoring ASCII case, in one of the kind's searchable fields. */
  readonly search?: string
  /** A tag that the record's `tags` must contain. */
  readonly tag?: string
  /** Text goes by code point; `null` comes before everything else. By id when absent. */
  readonly sort?: { readonly field: keyof Records[K] & string; readonly direction: 'asc' | 'desc' }
  /** From 1; without `limit` there is only one. */
  readonly page?: number
  /** Records a page, at least 1; all of them when absent. */
  readonly limit?: number
  /**
   * `false`: `total` is the number of records on this page. A walk through all pages costs less
   * without the number of all records, which is counted for each page otherwise.
   */
  readonly isCounted?: boolean
}

/** Which records to remove; of a whole kind they are never removed. */
export type PurgeQuery<K extends Kind> = Pick<ListQuery<K>, 'where' | 'range'>

/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[]
  /** How many records match on all pages, unless the query says `isCounted: false`. */
  readonly total: number
}

/** A definition as it now is; `null` when it is gone. */
export type DefinitionChange =
  | { readonly kind: 'flag'; readonly id: string; readonly definition: FlagDefinition | null }
  | { readonly kind: 'segment'; readonly id: string; readonly definition: PublishedSegment | null }
  | ({ readonly kind: 'segmentKeys' } & SegmentKeysChange)

/** The time and the cause of a publication. */
export interface PublishMetadata {
  readonly publishedAt: string
  /** The audit event of the change; null if there is none. */
  readonly eventId: string | null
  /**
   * Whether answers to SDK keys of kind `client` may differ from those of the version before. Absent
   * means `true`; with `false` the environment's client version stays what it was.
   */
  readonly affectsClients?: boolean
}

/** Which page of versions to list. */
export interface VersionPage {
  /** From 1. */
  readonly page: number
  /** Versions a page, at least 1. */
  readonly limit: number
}

/** One version of an environment and what changed in it, each list ordered by id. */
export interface PublishedVersion extends Omit<PublishMetadata, 'affectsClients'> {
  readonly version: number
  readonly flags: readonly ChangedDefinition[]
  /** Those whose listed keys changed are here too. */
  readonly segments: readonly ChangedDefinition[]
}

/** A flag or a segment that a version changed. */
export interface ChangedDefinition {
  readonly id: string
  /** As it was published last; null for listed keys of a segment that never was. */
  readonly key: string | null
}

/** A segment without its listed keys, which are logged as differences. */
export type PublishedSegment = Omit<SegmentDefinition, 'included' | 'excluded'>

/**
 * Keys that leave a segment's list and keys that join it; one that is in both is there
 * afterwards. Lists live by the segment's id alone: while no definition of the segment is
 * published they are kept, but appear in no flag set.
 */
export interface SegmentKeysChange {
  readonly segmentId: string
  readonly list: 'included' | 'excluded'
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/**
 * The definitions that changed after a version, whole and with their listed keys: what
 * `mergeChanges` of `@ff/core` takes. The version is 0 when nothing was ever published.
 */
export type DefinitionChanges = DefinitionDelta
