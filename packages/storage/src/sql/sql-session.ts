import type { FlagSetDefinition } from '@ff/core'
import { newEntries, toChanges, toFlagSet, topicName, topicOf } from '../publication-log.ts'
import { recordNotFound, staleRevision } from '../record-errors.ts'
import type { Kind, Records } from '../records.ts'
import { SerialQueue } from '../serial-queue.ts'
import type {
  Changes,
  DefinitionChange,
  DefinitionChanges,
  ListQuery,
  Page,
  StorageSession,
} from '../storage.ts'
import type { SqlDialect } from './dialect.ts'
import { PublicationStatements } from './publication-statements.ts'
import { RecordStatements } from './record-statements.ts'
import { fromRow, toLogEntry } from './rows.ts'
import type { SqlConnection, SqlRow } from './sql-driver.ts'

/** What a store can do, on one connection: a transaction's, or for its reading half the reader's. */
export class SqlSession implements StorageSession {
  readonly #connection: SqlConnection
  readonly #records: RecordStatements
  readonly #log: PublicationStatements
  /** Publishing reads and then writes, and so must not meet itself. */
  readonly #publishing = new SerialQueue()

  constructor(connection: SqlConnection, dialect: SqlDialect) {
    this.#connection = connection
    this.#records = new RecordStatements(dialect)
    this.#log = new PublicationStatements(dialect)
  }

  async find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const [rows = []] = await this.#connection.run([this.#records.find(kind, id)])
    return rows[0] === undefined ? undefined : fromRow(kind, rows[0])
  }

  async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    const [rows = [], totals] = await this.#connection.run(this.#records.list(kind, query))
    const data = rows.map((row) => fromRow(kind, row))
    return { data, total: Number(totals?.[0]?.total ?? 0) }
  }

  async insert<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    await this.#connection.run([this.#records.insert(kind, record)])
  }

  async update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    const update = this.#records.update(kind, id, changes, expectedRevision)
    const [rows = []] = await this.#connection.run([update])
    if (rows[0] !== undefined) return fromRow(kind, rows[0])
    const isLiving = (await this.find(kind, id)) !== undefined
    throw isLiving ? staleRevision(kind, id) : recordNotFound(kind, id)
  }

  async publish(environmentId: string, changes: readonly DefinitionChange[]): Promise<number> {
    return this.#publishing.run(() => this.#publish(environmentId, changes))
  }

  async loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    const [versions, rows = []] = await this.#connection.run([
      this.#log.version(environmentId),
      at === undefined ? this.#log.present(environmentId) : this.#log.past(environmentId, at),
    ])
    const present = versionIn(versions)
    const version = at ?? present
    if (present === 0 || version < 0 || version > present) return undefined
    return toFlagSet(version, rows.map(toLogEntry))
  }

  async loadChanges(environmentId: string, since: number): Promise<DefinitionChanges> {
    const [versions, rows = []] = await this.#connection.run([
      this.#log.version(environmentId),
      this.#log.changed(environmentId, since),
    ])
    return toChanges(rows.map(toLogEntry), { version: versionIn(versions), since })
  }

  async #publish(environmentId: string, changes: readonly DefinitionChange[]): Promise<number> {
    const topics = changes.map(topicOf)
    const [, versions, ...states] = await this.#connection.run([
      this.#log.claim(environmentId),
      this.#log.version(environmentId),
      ...topics.map((topic) => this.#log.topic(environmentId, topic)),
    ])
    const present = new Map(
      topics.map((topic, index) => [topicName(topic), (states[index] ?? []).map(toLogEntry)]),
    )
    const version = versionIn(versions) + 1
    const entries = newEntries({
      version,
      changes,
      present: (topic) => present.get(topicName(topic)) ?? [],
    })
    if (entries.length === 0) return version - 1
    await this.#connection.run([
      ...entries.flatMap((entry) => this.#log.append(environmentId, entry)),
      this.#log.setVersion(environmentId, version),
    ])
    return version
  }
}

function versionIn(rows: readonly SqlRow[] | undefined): number {
  return Number(rows?.[0]?.version ?? 0)
}
