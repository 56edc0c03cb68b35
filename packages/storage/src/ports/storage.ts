import type { FlagSetDefinition } from '@ff/core'
import type { DeliveryClaim } from './delivery-claim.ts'
import type { Leases } from './leases.ts'
import type {
  DefinitionChange,
  DefinitionChanges,
  FlagHistoryQuery,
  FlagPublication,
  NewestVersions,
  PublishedVersion,
  PublishMetadata,
  VersionPage,
} from './publications.ts'
import type { Kind, Records } from './records.ts'
import type { UsageSession } from './usage.ts'

/**
 * The operations of a store, inside or outside a transaction.
 *
 * The caller generates ids and timestamps and passes them in the record. A record is deleted by an
 * `update` that sets `deletedAt`; a record that is not deleted is called living. `find` and `list`
 * return only living records. Text is stored unchanged, except for U+0000 and unpaired surrogates:
 * not every store can save these characters outside JSON fields, and U+FFFD replaces them in
 * context samples. Numbers must be finite.
 *
 * A call that fails with `NOT_FOUND`, `CONFLICT` or `INVALID_REQUEST` (the store cannot save a
 * value) changes nothing, and its transaction remains usable. `UNAVAILABLE` means that the store
 * cannot be reached or written; a transaction in which it occurs is rolled back.
 */
export interface StorageSession extends UsageSession {
  /** Returns the living record with this id, or `undefined` if there is none. */
  find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined>

  /**
   * Returns the living record with this id, as `find` does. Until the transaction ends, no other
   * transaction changes or deletes the record. Waits for another transaction that has changed it. A
   * transaction that refers to a record which other locks protect must hold that record; one that
   * deletes a record must first write, and look for references afterwards. Outside a transaction,
   * the same as `find`.
   */
  hold<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined>

  /** Returns the deleted record with this id, or `undefined` if there is none. */
  findDeleted<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined>

  /** Returns one page of living records. Records with equal sort values are ordered by id. */
  list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>>

  /**
   * Adds a record. Throws `CONFLICT` if another record, living or deleted, has the same id, or if a
   * living record has the same unique key.
   */
  insert<K extends Kind>(kind: K, record: Records[K]): Promise<void>

  /**
   * Changes some fields of a living record and returns the complete changed record. Fields that
   * are `undefined` are not changed. The caller sets `revision`. Throws `NOT_FOUND` if there is no
   * living record with this id, and `CONFLICT` if `expectedRevision` is not the revision of the
   * record or another living record has the same unique key.
   */
  update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]>

  /**
   * Restores a deleted record, with all its fields, and returns it. Throws `NOT_FOUND` if there is
   * no deleted record with this id, and `CONFLICT` if a living record has the same unique key.
   */
  revive<K extends Kind>(kind: K, id: string): Promise<Records[K]>

  /**
   * Appends changed definitions to the environment's publication log under its next version, and
   * returns that version. Changes without effect are omitted: a definition with the same JSON text
   * as the published definition, an added key that is already listed, a removed key that is not
   * listed. If no change remains, nothing is appended and the current version is returned. If
   * several changes concern one definition, the last of them applies. Several changes of listed
   * keys apply in order.
   */
  publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    metadata: PublishMetadata,
  ): Promise<number>

  /**
   * Returns the newest version of each living environment with one of these ids, and the version of
   * all SDK keys, of one committed state. One call for all is much cheaper than one call for each.
   */
  findVersions(environmentIds: readonly string[]): Promise<NewestVersions>

  /**
   * Returns one page of the environment's versions, newest first. The page is empty if nothing has
   * been published.
   */
  listVersions(environmentId: string, page: VersionPage): Promise<Page<PublishedVersion>>

  /**
   * Returns everything needed to evaluate the environment, at the current version or at version
   * `at`. Flags are ordered by key, segments by id, and listed keys in the order in which they were
   * added. `clientVersion` is the last version up to `version` that affected clients, and is absent
   * if it equals `version`. Version 0 is an empty flag set. Returns `undefined` if nothing has been
   * published or the version `at` does not exist.
   */
  loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined>

  /**
   * Returns the changes after version `since`. `mergeChanges` of `@ff/core/changes` applies them to
   * the flag set at version `since`. The result is the current flag set, except for the order of
   * listed keys. Flags and segments are ordered by id, changed keys in no particular order.
   *
   * The changes contain the current state of each flag and segment whose definition was published
   * or removed after version `since`, and of each segment with other listed keys than at version
   * `since`. A key that was added and removed again is omitted. If the flag set at version `since`
   * does not contain a segment, all its listed keys are added.
   */
  loadChanges(environmentId: string, since: number): Promise<DefinitionChanges>

  /**
   * Returns the publications of a flag, oldest first: the newest up to version `since`, and all later
   * ones. If the flag was not published up to version `since`, returns only the later ones.
   */
  loadFlagHistory(query: FlagHistoryQuery): Promise<readonly FlagPublication[]>

  /**
   * Merges each sample into the living `observedContext` with the same environment and hash: adds
   * to its count, keeps the earliest `firstSeen` and the latest `lastSeen`, and takes all other
   * fields except the id from the sample with the latest `lastSeen`. If there is no such record,
   * adds a record with the id of the sample.
   *
   * U+FFFD replaces each U+0000 and each unpaired surrogate in all text of a sample, including the
   * names and strings in `contextJson`. The same replacement applies to the `where` of queries for
   * this kind, so that a context can be found by its original key.
   *
   * Throws `CONFLICT` if the id of a new record exists already, and `INVALID_REQUEST` if a sample
   * cannot be saved. In both cases nothing is added.
   */
  recordContextSamples(samples: readonly ContextSample[]): Promise<void>

  /**
   * Returns living observed contexts of an environment, ordered by hash. The hashes are uniformly
   * distributed, so that the first contexts are a random sample of all. `total` is the number of
   * contexts that were seen since `seenFrom`, regardless of `after` and `limit`.
   */
  loadContexts(query: ContextQuery): Promise<Page<ObservedAttributes>>

  /**
   * Claims due webhook deliveries and returns them, in no particular order: adds 1 to `attempts`,
   * sets `nextAttemptAt` to the expiry of the claim, and removes the result of the last attempt.
   * Deliveries that have been due for the longest time are claimed first. If a webhook reaches its
   * limit, its other due deliveries are postponed, so that the next call reads those to other
   * webhooks. Concurrent calls never return the same delivery, also in transactions with different
   * locks. A store that can lock single records skips those that another transaction has locked,
   * so that a call can return fewer deliveries than are due.
   */
  claimDeliveries(claim: DeliveryClaim): Promise<readonly Records['webhookDelivery'][]>

  /**
   * Permanently removes all matching records, including deleted records, and returns their number.
   * Intended for data that expires or must be erased, not for configuration. Throws `INTERNAL` if
   * the query has no condition.
   */
  purge<K extends Kind>(kind: K, query: PurgeQuery<K>): Promise<number>
}

/** One or more evaluations of a context. */
export type ContextSample = Omit<Records['observedContext'], 'deletedAt'>

/** Selects observed contexts of one environment. */
export interface ContextQuery {
  readonly environmentId: string
  /** The earliest `lastSeen`, a timestamp. */
  readonly seenFrom: string
  /** Omits the contexts up to this hash; absent for the first contexts. */
  readonly after?: string
  /** The maximum number of contexts, at least 1. */
  readonly limit: number
  /** If `false`, `total` is the number of returned contexts. Default: `true`. */
  readonly isCounted?: boolean
}

/** An observed context without the results of its evaluation, which can be long. */
export interface ObservedAttributes
  extends Pick<
    Records['observedContext'],
    'hash' | 'kind' | 'key' | 'lastSeen' | 'seenCount' | 'reducedBy' | 'settingsRevision'
  > {
  /** The JSON text of the stored context. */
  readonly contextText: string
}

/** A store: the persistent data of a server. */
export interface Storage extends StorageSession, Leases {
  /**
   * Upgrades the store to the schema of this release. Must be called before any other method. Safe
   * to call repeatedly and from several processes at once. Throws `UNAVAILABLE` if the upgrade
   * fails or a later release has migrated the store.
   */
  migrate(): Promise<void>

  /**
   * Runs `work` in a transaction and returns its result. Either all changes are saved or none.
   * Saved changes are durable when the promise resolves. Other callers do not see the changes
   * before the transaction has ended. Transactions with the same `lock` (the id of an organization,
   * or `platform`) run one after another. `work` can run more than once, and must use only the
   * session that it receives: a call of the store itself could wait for this transaction and never
   * resolve.
   */
  transaction<T>(lock: string, work: (tx: StorageSession) => Promise<T>): Promise<T>

  /**
   * Waits for running operations and closes the store. Later calls of other methods throw
   * `UNAVAILABLE`. Further calls of `close` have no effect.
   */
  close(): Promise<void>
}

/** The fields that an update can change: all except `id` and `createdAt`. */
export type Changes<K extends Kind> = Partial<Omit<Records[K], 'id' | 'createdAt'>>

/** The name of a field with an array of texts. */
type TextArrayField<K extends Kind> = {
  [F in keyof Records[K]]: Records[K][F] extends readonly string[] ? F : never
}[keyof Records[K]]

/** The filter, the order and the page of a list. */
export interface ListQuery<K extends Kind> {
  /**
   * The values that fields must have, including `null`. Fields with arrays or objects cannot be
   * compared.
   */
  readonly where?: Partial<Records[K]>
  /** The range of a text field, such as a timestamp: `from <= field < to`. */
  readonly range?: {
    readonly field: keyof Records[K] & string
    readonly from?: string
    readonly to?: string
  }
  /** Text that at least one searchable field of the kind must contain, ignoring ASCII case. */
  readonly search?: string
  /** The texts that arrays of texts must contain: each listed text, as a complete element. */
  readonly contains?: { readonly [F in TextArrayField<K>]?: readonly string[] }
  /**
   * The order. Text is compared by code point, and `null` sorts before all other values. If absent,
   * records are ordered by id.
   */
  readonly sort?: { readonly field: keyof Records[K] & string; readonly direction: 'asc' | 'desc' }
  /**
   * The page number, starting at 1, which is the default. Ignored without `limit`, because there is
   * then only one page.
   */
  readonly page?: number
  /** The number of records per page, at least 1. If absent, all records are on one page. */
  readonly limit?: number
  /**
   * Skips the records up to this position in the order. The sort field must not be `null` in any
   * record. With a `limit`, `total` still counts all matching records. `page` must be 1 or absent.
   */
  readonly after?: ListPosition
  /**
   * If `false`, `total` is the number of records on this page. Reading many pages is then cheaper,
   * because otherwise each call counts all matching records. Default: `true`.
   */
  readonly isCounted?: boolean
}

/**
 * A position in the order of a list: behind a record with this value of the sort field and this id,
 * which need not exist any more. Without `sort`, the value has no effect.
 */
export interface ListPosition {
  readonly value: string | number | boolean
  readonly id: string
}

/** Selects the records to remove. At least one condition is required. */
export type PurgeQuery<K extends Kind> = Pick<ListQuery<K>, 'where' | 'range'>

/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[]
  /** The number of matching records on all pages; with `isCounted: false`, on this page. */
  readonly total: number
}
