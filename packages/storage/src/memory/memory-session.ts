import type { FlagSetDefinition } from '@ff/core'
import type { DeliveryClaim } from '../ports/delivery-claim.ts'
import type {
  DefinitionChange,
  DefinitionChanges,
  FlagHistoryQuery,
  FlagPublication,
  NewestVersion,
  NewestVersions,
  PublishedVersion,
  PublishMetadata,
  VersionPage,
} from '../ports/publications.ts'
import { refuseToPurgeAll } from '../ports/purge-query.ts'
import {
  keyTaken,
  recordNotFound,
  staleRevision,
  transactionEnded,
} from '../ports/record-errors.ts'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import { changesSdkKeys } from '../ports/sdk-key-changes.ts'
import { assertFinite, storableWhere } from '../ports/storable.ts'
import type {
  Changes,
  ContextQuery,
  ContextSample,
  ListQuery,
  ObservedAttributes,
  Page,
  PurgeQuery,
  StorageSession,
} from '../ports/storage.ts'
import type {
  ApiCalls,
  EvaluationCount,
  EvaluationCountQuery,
  EvaluationTotal,
} from '../ports/usage.ts'
import { dueDeliveries } from './due-deliveries.ts'
import {
  changesSince,
  EMPTY_LOG,
  type EnvironmentLog,
  flagHistoryOf,
  flagSetAt,
  versionsOf,
  withPublication,
} from './environment-log.ts'
import { frozenCopy } from './frozen-copy.ts'
import { fieldOf, haveEqualKeys, isLiving, matches, pageOf } from './memory-query.ts'
import { MemoryUsage, type UsageState } from './memory-usage.ts'
import { contextsOf, recordSamples } from './observed-contexts.ts'
import { Overlay } from './overlay.ts'

/** The committed state of a memory store. */
export interface MemoryState extends UsageState {
  /** The version of all SDK keys. */
  sdkKeyVersion: number
  readonly records: { readonly [K in Kind]: Map<string, Records[K]> }
  readonly logs: Map<string, EnvironmentLog>
}

type Overlays = { readonly [K in Kind]: Overlay<Records[K]> }

/**
 * A session of a memory store. It sees the committed state and its own changes. Other sessions do
 * not see these changes before `commit`.
 */
export class MemorySession implements StorageSession {
  readonly #records: Overlays
  readonly #logs: Overlay<EnvironmentLog>
  readonly #ownUsage: MemoryUsage
  readonly #state: MemoryState
  /** The number of changes of SDK keys by this session. */
  #keyChanges = 0
  #ended = false

  constructor(state: MemoryState) {
    const overlays = Object.entries(state.records).map(([kind, map]) => [
      kind,
      new Overlay<unknown>(map),
    ])
    this.#records = Object.fromEntries(overlays) as Overlays
    this.#logs = new Overlay(state.logs)
    this.#ownUsage = new MemoryUsage(state)
    this.#state = state
  }

  async find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const record = this.#overlay(kind).get(id)
    return record !== undefined && isLiving(record) ? record : undefined
  }

  /** Transactions run one after another, so that no other one changes the record. */
  hold<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.find(kind, id)
  }

  async findDeleted<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const record = this.#overlay(kind).get(id)
    return record === undefined || isLiving(record) ? undefined : record
  }

  async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    const where = storableWhere(kind, query.where)
    return pageOf(kind, [...this.#overlay(kind).values()].filter(isLiving), { ...query, where })
  }

  async insert<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    assertFinite(record)
    const overlay = this.#overlay(kind)
    if (overlay.get(record.id) !== undefined) throw keyTaken()
    this.#refuseTakenKeys(kind, record)
    overlay.set(record.id, frozenCopy(record))
    if (changesSdkKeys(kind, record)) this.#keyChanges += 1
  }

  async update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    assertFinite(changes)
    const overlay = this.#overlay(kind)
    const record = overlay.get(id)
    if (record === undefined || !isLiving(record)) throw recordNotFound(kind, id)
    if (expectedRevision !== undefined && fieldOf(record, 'revision') !== expectedRevision) {
      throw staleRevision(kind, id)
    }
    const changed = frozenCopy({ ...record, ...withoutUndefined(changes) })
    if (isKeyChange(kind, changes)) this.#refuseTakenKeys(kind, changed)
    overlay.set(id, changed)
    if (changesSdkKeys(kind, changes)) this.#keyChanges += 1
    return changed
  }

  async revive<K extends Kind>(kind: K, id: string): Promise<Records[K]> {
    const overlay = this.#overlay(kind)
    const record = overlay.get(id)
    if (record === undefined || isLiving(record)) throw recordNotFound(kind, id)
    const revived = frozenCopy({ ...record, deletedAt: null })
    this.#refuseTakenKeys(kind, revived)
    overlay.set(id, revived)
    if (changesSdkKeys(kind, revived)) this.#keyChanges += 1
    return revived
  }

  async publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    metadata: PublishMetadata,
  ): Promise<number> {
    const log = withPublication(this.#log(environmentId), changes, metadata)
    this.#logs.set(environmentId, log)
    return log.version
  }

  async findVersions(environmentIds: readonly string[]): Promise<NewestVersions> {
    const environments = new Map<string, NewestVersion>()
    for (const id of environmentIds) {
      const environment = await this.find('environment', id)
      if (environment === undefined) continue
      environments.set(id, { version: this.#log(id).version, revision: environment.revision })
    }
    return { environments, sdkKeys: this.#state.sdkKeyVersion + this.#keyChanges }
  }

  async listVersions(environmentId: string, page: VersionPage): Promise<Page<PublishedVersion>> {
    return versionsOf(this.#log(environmentId), page)
  }

  async loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    const log = this.#log(environmentId)
    return flagSetAt(log, at ?? log.version)
  }

  async loadChanges(environmentId: string, since: number): Promise<DefinitionChanges> {
    return changesSince(this.#log(environmentId), since)
  }

  async loadFlagHistory(query: FlagHistoryQuery): Promise<readonly FlagPublication[]> {
    return flagHistoryOf(this.#log(query.environmentId), query)
  }

  async addEvaluationCounts(counts: readonly EvaluationCount[]): Promise<void> {
    this.#usage.addCounts(counts)
  }

  async loadEvaluationCounts(query: EvaluationCountQuery): Promise<readonly EvaluationTotal[]> {
    return this.#usage.totals(query)
  }

  async dropEvaluationCounts(beforeMinute: string): Promise<void> {
    this.#usage.dropCounts(beforeMinute)
  }

  async markEvaluated(flagIds: readonly string[], at: string): Promise<readonly string[]> {
    const overlay = this.#overlay('flag')
    for (const id of flagIds) {
      const flag = overlay.get(id)
      if (flag === undefined || !isLiving(flag) || (flag.lastEvaluatedAt ?? '') >= at) continue
      overlay.set(id, frozenCopy({ ...flag, lastEvaluatedAt: at, unusedSince: at }))
    }
    return []
  }

  async addApiCalls(calls: readonly ApiCalls[]): Promise<void> {
    this.#usage.addApiCalls(calls)
  }

  async loadApiCalls(organizationIds?: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#usage.apiCalls(organizationIds)
  }

  async takeApiCalls(organizationId: string): Promise<number> {
    return this.#usage.takeApiCalls(organizationId)
  }

  async recordContextSamples(samples: readonly ContextSample[]): Promise<void> {
    recordSamples(this.#overlay('observedContext'), samples)
  }

  async loadContexts(query: ContextQuery): Promise<Page<ObservedAttributes>> {
    return contextsOf([...this.#overlay('observedContext').values()].filter(isLiving), query)
  }

  async claimDeliveries(claim: DeliveryClaim): Promise<readonly Records['webhookDelivery'][]> {
    const { claimed, postponed } = dueDeliveries(this.#overlay('webhookDelivery').values(), claim)
    const { postponedTo, expiresAt } = claim
    for (const { id } of postponed) {
      await this.update('webhookDelivery', id, { nextAttemptAt: postponedTo })
    }
    const noResult = { lastStatus: null, lastError: null, durationMs: null }
    return Promise.all(
      claimed.map(({ id, attempts }) => {
        const attempt = { attempts: attempts + 1, nextAttemptAt: expiresAt, ...noResult }
        return this.update('webhookDelivery', id, attempt)
      }),
    )
  }

  async purge<K extends Kind>(kind: K, query: PurgeQuery<K>): Promise<number> {
    refuseToPurgeAll(query)
    const overlay = this.#overlay(kind)
    const where = storableWhere(kind, query.where)
    const isPurged = (record: Records[K]) => matches(kind, record, { ...query, where })
    const purged = [...overlay.entries()].filter(([, record]) => isPurged(record))
    for (const [id] of purged) overlay.delete(id)
    if (purged.length > 0 && kind === 'sdkKey') this.#keyChanges += 1
    return purged.length
  }

  /** Applies all changes to the committed state. */
  commit(): void {
    for (const overlay of Object.values(this.#records)) overlay.commit()
    this.#logs.commit()
    this.#ownUsage.commit()
    this.#state.sdkKeyVersion += this.#keyChanges
    this.#keyChanges = 0
  }

  /** Ends the session. Later calls throw `INTERNAL`. */
  end(): void {
    this.#ended = true
  }

  #overlay<K extends Kind>(kind: K): Overlay<Records[K]> {
    if (this.#ended) throw transactionEnded()
    return this.#records[kind]
  }

  #log(environmentId: string): EnvironmentLog {
    if (this.#ended) throw transactionEnded()
    return this.#logs.get(environmentId) ?? EMPTY_LOG
  }

  get #usage(): MemoryUsage {
    if (this.#ended) throw transactionEnded()
    return this.#ownUsage
  }

  #refuseTakenKeys<K extends Kind>(kind: K, record: Records[K]): void {
    if (KIND_RULES[kind].unique.length === 0 || !isLiving(record)) return
    for (const other of this.#overlay(kind).values()) {
      if (other.id === record.id || !isLiving(other)) continue
      if (haveEqualKeys(kind, other, record)) throw keyTaken()
    }
  }
}

/** Returns `true` if the changes contain a field of a unique key. */
function isKeyChange(kind: Kind, changes: object): boolean {
  return KIND_RULES[kind].unique.flat().some((field) => Object.hasOwn(changes, field))
}

function withoutUndefined(changes: object): object {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}
