import { type FileHandle, open } from 'node:fs/promises'
import { FlagError, type FlagSetDefinition } from '@ff/core'
import {
  type Changes,
  type ContextSample,
  createStorage,
  type DefinitionChange,
  type DefinitionChanges,
  type EvaluationCount,
  type EvaluationCountQuery,
  type EvaluationTotal,
  type Kind,
  type ListQuery,
  memory,
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

/** One call that changes something, as it stands in the log: the method, and what it was given. */
type Write = readonly [WritingMethod, ...unknown[]]

type WritingMethod =
  | 'insert'
  | 'update'
  | 'revive'
  | 'purge'
  | 'publish'
  | 'addEvaluationCounts'
  | 'dropEvaluationCounts'
  | 'recordContextSamples'

/**
 * A store that answers from memory and keeps one line of JSON for each transaction in a file:
 * everything that the transaction wrote, synced to the disk before it is acknowledged. Opening
 * the file does all of it again.
 *
 * It is complete, and small because memory does the work. What it lacks is what databases are
 * for: the file only grows and is read as a whole at the start, everything must fit in memory,
 * and only one process may use the file.
 */
export function logStorage(path: string): Storage {
  return createStorage(new LogCore(path))
}

class LogCore implements StorageCore {
  readonly #path: string
  readonly #kept: Storage = newMemory()
  #file: Promise<FileHandle> | undefined

  constructor(path: string) {
    this.#path = path
  }

  async migrate(): Promise<void> {
    await this.#kept.migrate()
    this.#file ??= this.#open()
    await this.#file
  }

  async transaction<T>(lock: string, work: (tx: StorageSession) => Promise<T>): Promise<T> {
    return this.#kept.transaction(lock, async (tx) => {
      const session = new RecordingSession(tx)
      const result = await work(session)
      // Memory commits when this function has ended: what cannot be logged never happens.
      if (session.writes.length > 0) await this.#append(session.writes)
      return result
    })
  }

  async close(): Promise<void> {
    await this.#kept.close()
    await (await this.#file)?.close()
    this.#file = undefined
  }

  committed(): StorageSession {
    return this.#kept
  }

  async #open(): Promise<FileHandle> {
    try {
      const file = await open(this.#path, 'a+')
      const text = await file.readFile('utf8')
      const whole = text.slice(0, text.lastIndexOf('\n') + 1)
      // A last line without its end was never acknowledged.
      await file.truncate(Buffer.byteLength(whole))
      for (const line of whole.split('\n').slice(0, -1)) await this.#repeat(JSON.parse(line))
      return file
    } catch (cause) {
      const message = `The log ${this.#path} cannot be used: ${cause}.`
      throw new FlagError('UNAVAILABLE', message, { cause })
    }
  }

  async #repeat(writes: readonly Write[]): Promise<void> {
    await this.#kept.transaction('log', async (tx) => {
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

/** Passes everything on, and remembers what was written. A refused call has written nothing. */
class RecordingSession implements StorageSession {
  readonly writes: Write[] = []
  readonly #session: StorageSession

  constructor(session: StorageSession) {
    this.#session = session
  }

  find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.#session.find(kind, id)
  }

  list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    return this.#session.list(kind, query)
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

  loadEvaluationCounts(query: EvaluationCountQuery): Promise<readonly EvaluationTotal[]> {
    return this.#session.loadEvaluationCounts(query)
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

  async recordContextSamples(samples: readonly ContextSample[]): Promise<void> {
    await this.#session.recordContextSamples(samples)
    this.writes.push(['recordContextSamples', samples])
  }
}

function newMemory(): Storage {
  const { storage } = memory()
  return storage
}
