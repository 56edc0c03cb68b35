import type { FlagSetDefinition } from '@ff/core'
import { notMigrated } from '../record-errors.ts'
import type { Kind, Records } from '../records.ts'
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
import type { SqlDialect } from './dialect.ts'
import { migrate } from './migrate.ts'
import type { SqlDriver } from './sql-driver.ts'
import { SqlSession } from './sql-session.ts'

/** The store that every SQL database is, given its driver and its dialect. */
export class SqlStorage implements Storage {
  readonly #driver: SqlDriver
  readonly #dialect: SqlDialect
  readonly #reader: SqlSession
  #isMigrated = false

  constructor(driver: SqlDriver, dialect: SqlDialect) {
    this.#driver = driver
    this.#dialect = dialect
    this.#reader = new SqlSession(driver.reader, dialect)
  }

  async migrate(): Promise<void> {
    await migrate(this.#driver, this.#dialect)
    this.#isMigrated = true
  }

  async transaction<T>(lock: string, work: (tx: StorageSession) => Promise<T>): Promise<T> {
    if (!this.#isMigrated) throw notMigrated()
    return this.#driver.transaction(lock, (connection) =>
      work(new SqlSession(connection, this.#dialect)),
    )
  }

  async close(): Promise<void> {
    await this.#driver.close()
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
    if (!this.#isMigrated) throw notMigrated()
    return this.#reader
  }
}
