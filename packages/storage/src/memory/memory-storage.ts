import type { FlagSetDefinition } from '@ff/core'
import { notMigrated, storeClosed } from '../record-errors.ts'
import { KIND_RULES, type Kind, type Records } from '../records.ts'
import { SerialQueue } from '../serial-queue.ts'
import type {
  Changes,
  DefinitionChange,
  DefinitionChanges,
  ListQuery,
  Page,
  PublicationOccasion,
  PublishedVersion,
  Storage,
  StorageSession,
  VersionPage,
} from '../storage.ts'
import { MemorySession, type MemoryState } from './memory-session.ts'

/** Keeps everything in this process, and loses it with the process. Records come out frozen. */
export class MemoryStorage implements Storage {
  readonly #state = emptyState()
  readonly #reader = new MemorySession(this.#state)
  readonly #writers = new SerialQueue()
  #isMigrated = false
  #isClosed = false

  async migrate(): Promise<void> {
    if (this.#isClosed) throw storeClosed()
    this.#isMigrated = true
  }

  async transaction<T>(_lock: string, work: (tx: StorageSession) => Promise<T>): Promise<T> {
    this.#refuseUnlessOpen()
    return this.#writers.run(async () => {
      const session = new MemorySession(this.#state)
      try {
        const result = await work(session)
        session.commit()
        return result
      } finally {
        session.end()
      }
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writers.run(async () => undefined)
  }

  async find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    return this.#committed().find(kind, id)
  }

  async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    return this.#committed().list(kind, query)
  }

  async insert<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    return this.transaction(kind, (tx) => tx.insert(kind, record))
  }

  async update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    return this.transaction(kind, (tx) => tx.update(kind, id, changes, expectedRevision))
  }

  async revive<K extends Kind>(kind: K, id: string): Promise<Records[K]> {
    return this.transaction(kind, (tx) => tx.revive(kind, id))
  }

  async publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    occasion: PublicationOccasion,
  ): Promise<number> {
    return this.transaction(environmentId, (tx) => tx.publish(environmentId, changes, occasion))
  }

  async listVersions(environmentId: string, page: VersionPage): Promise<Page<PublishedVersion>> {
    return this.#committed().listVersions(environmentId, page)
  }

  async loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    return this.#committed().loadFlagSet(environmentId, at)
  }

  async loadChanges(environmentId: string, since: number): Promise<DefinitionChanges> {
    return this.#committed().loadChanges(environmentId, since)
  }

  #committed(): StorageSession {
    this.#refuseUnlessOpen()
    return this.#reader
  }

  #refuseUnlessOpen(): void {
    if (this.#isClosed) throw storeClosed()
    if (!this.#isMigrated) throw notMigrated()
  }
}

function emptyState(): MemoryState {
  const records = Object.keys(KIND_RULES).map((kind) => [kind, new Map()])
  return { records: Object.fromEntries(records) as MemoryState['records'], logs: new Map() }
}
