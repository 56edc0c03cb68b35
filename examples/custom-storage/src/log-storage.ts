import { type FileHandle, open } from 'node:fs/promises'
import { FlagError, type FlagSetDefinition } from '@ff/core'
import {
  type ApiCalls,
  type Changes,
  type ContextQuery,
  type ContextSample,
  createStorage,
  type DefinitionChange,
  type DefinitionChanges,
  type DeliveryClaim,
  type EvaluationCount,
  type EvaluationCountQuery,
  type EvaluationTotal,
  type FlagHistoryQuery,
  type FlagPublication,
  type Kind,
  type LeaseClaim,
  type LeaseHolder,
  type ListQuery,
  memory,
  type NewestVersions,
  type ObservedAttributes,
  type Page,
  type PublishedVersion,
  type PublishMetadata,
  type PurgeQuery,
  type Records,
  type Storage,
  type StorageCore,
  type StorageSession,
  type VersionPage,
} from '@ff/storage'

/** A writing call in the log: the name of the method and its arguments. */
type Write = readonly [WritingMethod, ...unknown[]]

type WritingMethod =
  | 'insert'
  | 'update'
  | 'revive'
  | 'purge'
  | 'publish'
  | 'addEvaluationCounts'
  | 'dropEvaluationCounts'
  | 'markEvaluated'
  | 'addApiCalls'
  | 'takeApiCalls'
  | 'recordContextSamples'
  | 'claimDeliveries'

/**
 * Returns a store that reads from memory and appends each transaction to a file as a line of JSON.
 * A transaction is synced to the disk before it is acknowledged. When the file is opened, all
 * transactions are executed again.
 *
 * The store implements the whole contract, but it has limits that a database does not have. The
 * file only grows and is read completely at the start, all data must fit in memory, and only one
 * process can use the file.
 */
export function logStorage(path: string): Storage {
  return createStorage(new LogCore(path))
}

class LogCore implements StorageCore {
  readonly #path: string
  readonly #memory: Storage = newMemory()
  #file: Promise<FileHandle> | undefined

  constructor(path: string) {
    this.#path = path
  }

  async migrate(): Promise<void> {
    await this.#memory.migrate()
    this.#file ??= this.#open()
    await this.#file
  }

  async transaction<T>(lock: string, work: (tx: StorageSession) => Promise<T>): Promise<T> {
    return this.#memory.transaction(lock, async (tx) => {
      const session = new RecordingSession(tx)
      const result = await work(session)
      // Memory commits after this function returns, so that a failed write to the log aborts it.
      if (session.writes.length > 0) await this.#append(session.writes)
      return result
    })
  }

  /** Leases are not in the log, because only one process uses the file. */
  claimLease(claim: LeaseClaim): Promise<boolean> {
    return this.#memory.claimLease(claim)
  }

  findLeaseHolder(name: string): Promise<string | undefined> {
    return this.#memory.findLeaseHolder(name)
  }

  releaseLease(lease: LeaseHolder): Promise<void> {
    return this.#memory.releaseLease(lease)
  }

  async close(): Promise<void> {
    await this.#memory.close()
    await (await this.#file)?.close()
    this.#file = undefined
  }

  committed(): StorageSession {
    return this.#memory
  }

  async #open(): Promise<FileHandle> {
    try {
      const file = await open(this.#path, 'a+')
      const text = await file.readFile('utf8')
      const whole = text.slice(0, text.lastIndexOf('\n') + 1)
      // An incomplete last line belongs to a transaction that was not acknowledged.
      await file.truncate(Buffer.byteLength(whole))
      for (const line of whole.split('\n').slice(0, -1)) await this.#repeat(JSON.parse(line))
      return file
    } catch (cause) {
      const message = `The log ${this.#path} cannot be used: ${cause}.`
      throw new FlagError('UNAVAILABLE', message, { cause })
    }
  }

  async #repeat(writes: readonly Write[]): Promise<void> {
    await this.#memory.transaction('log', async (tx) => {
      for (const [method, ...input] of writes) await Reflect.apply(tx[method], tx, input)
    })
  }

  async #append(writes: readonly Write[]): Promise<void> {
    const file = await this.#file
    const size = (await file?.stat())?.size ?? 0
    try {
      await file?.appendFile(`${JSON.stringify(writes)}\n`)
      await file?.datasync()
    } catch (cause) {
      await file?.truncate(size)
      throw new FlagError('UNAVAILABLE', 'The log cannot be written.', { cause })
    }
  }
}

/** A session that passes all calls to another one and records the successful writing calls. */
class RecordingSession implements StorageSession {
  readonly writes: Write[] = []
  readonly #session: StorageSession

  constructor(session: StorageSession) {
    this.#session = session
  }

  find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.#session.find(kind, id)
  }

  hold<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.#session.hold(kind, id)
  }

  findDeleted<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.#session.findDeleted(kind, id)
  }

  list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    return this.#session.list(kind, query)
  }

  findVersions(environmentIds: readonly string[]): Promise<NewestVersions> {
    return this.#session.findVersions(environmentIds)
  }

  listVersions(environmentId: string, page: VersionPage): Promise<Page<PublishedVersion>> {
    return this.#session.listVersions(environmentId, page)
  }

  loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    return this.#session.loadFlagSet(environmentId, at)
  }

  loadChanges(environmentId: string, since: number): Promise<DefinitionChanges> {
    return this.#session.loadChanges(environmentId, since)
  }

  loadFlagHistory(query: FlagHistoryQuery): Promise<readonly FlagPublication[]> {
    return this.#session.loadFlagHistory(query)
  }

  loadEvaluationCounts(query: EvaluationCountQuery): Promise<readonly EvaluationTotal[]> {
    return this.#session.loadEvaluationCounts(query)
  }

  loadApiCalls(organizationIds?: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#session.loadApiCalls(organizationIds)
  }

  loadContexts(query: ContextQuery): Promise<Page<ObservedAttributes>> {
    return this.#session.loadContexts(query)
  }

  async insert<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    await this.#session.insert(kind, record)
    this.writes.push(['insert', kind, record])
  }

  async update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    const updated = await this.#session.update(kind, id, changes, expectedRevision)
    this.writes.push(['update', kind, id, changes])
    return updated
  }

  async revive<K extends Kind>(kind: K, id: string): Promise<Records[K]> {
    const revived = await this.#session.revive(kind, id)
    this.writes.push(['revive', kind, id])
    return revived
  }

  async publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    metadata: PublishMetadata,
  ): Promise<number> {
    const version = await this.#session.publish(environmentId, changes, metadata)
    this.writes.push(['publish', environmentId, changes, metadata])
    return version
  }

  async purge<K extends Kind>(kind: K, query: PurgeQuery<K>): Promise<number> {
    const purged = await this.#session.purge(kind, query)
    this.writes.push(['purge', kind, query])
    return purged
  }

  async addEvaluationCounts(counts: readonly EvaluationCount[]): Promise<void> {
    await this.#session.addEvaluationCounts(counts)
    this.writes.push(['addEvaluationCounts', counts])
  }

  async dropEvaluationCounts(beforeMinute: string): Promise<void> {
    await this.#session.dropEvaluationCounts(beforeMinute)
    this.writes.push(['dropEvaluationCounts', beforeMinute])
  }

  async markEvaluated(flagIds: readonly string[], at: string): Promise<readonly string[]> {
    const skipped = await this.#session.markEvaluated(flagIds, at)
    this.writes.push(['markEvaluated', flagIds, at])
    return skipped
  }

  async addApiCalls(calls: readonly ApiCalls[]): Promise<void> {
    await this.#session.addApiCalls(calls)
    this.writes.push(['addApiCalls', calls])
  }

  async takeApiCalls(organizationId: string): Promise<number> {
    const taken = await this.#session.takeApiCalls(organizationId)
    if (taken > 0) this.writes.push(['takeApiCalls', organizationId])
    return taken
  }

  async recordContextSamples(samples: readonly ContextSample[]): Promise<void> {
    await this.#session.recordContextSamples(samples)
    this.writes.push(['recordContextSamples', samples])
  }

  async claimDeliveries(claim: DeliveryClaim): Promise<readonly Records['webhookDelivery'][]> {
    const claimed = await this.#session.claimDeliveries(claim)
    this.writes.push(['claimDeliveries', claim])
    return claimed
  }
}

function newMemory(): Storage {
  const { storage } = memory()
  return storage
}
