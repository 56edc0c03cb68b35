import type { FlagSetDefinition } from '@ff/core'
import type {
  DefinitionChange,
  DefinitionChanges,
  FlagHistoryQuery,
  FlagPublication,
  PublishedVersion,
  PublishMetadata,
  VersionPage,
} from '../ports/publications.ts'
import type { Page } from '../ports/storage.ts'
import { toChanges } from '../publication-log/changes.ts'
import {
  contentOf,
  definitionOf,
  type LogEntry,
  type LogTopic,
  newEntries,
  toFlagHistory,
  toFlagSet,
  topicName,
  topicOf,
} from '../publication-log/publication-log.ts'
import { SerialQueue } from '../runtime/serial-queue.ts'
import type { TimeSlices } from '../runtime/time-slice.ts'
import { assertIntact, EMPTY_DIGEST, nextDigest } from './present-digest.ts'
import type { PublicationStatements } from './publication-statements.ts'
import { toLogEntry, toPublishedVersion } from './rows.ts'
import type { SqlRow, SqlTransaction } from './sql-driver.ts'

interface PublicationLogOptions {
  readonly connection: SqlTransaction
  readonly statements: PublicationStatements
  readonly slices: TimeSlices
}

/** The publication logs of all environments, as a session reads and writes them. */
export class SqlPublicationLog {
  readonly #connection: SqlTransaction
  readonly #statements: PublicationStatements
  readonly #slices: TimeSlices
  /** Runs publications one after another, because each of them reads state before it writes. */
  readonly #publishing = new SerialQueue()

  constructor({ connection, statements, slices }: PublicationLogOptions) {
    this.#connection = connection
    this.#statements = statements
    this.#slices = slices
  }

  publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    metadata: PublishMetadata,
  ): Promise<number> {
    return this.#publishing.run(() => this.#publish(environmentId, changes, metadata))
  }

  async listVersions(environmentId: string, page: VersionPage): Promise<Page<PublishedVersion>> {
    const [versions, rows = []] = await this.#connection.run([
      this.#statements.version(environmentId),
      this.#statements.versions(environmentId, page),
    ])
    return { data: rows.map(toPublishedVersion), total: headIn(versions).version }
  }

  async loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    const [versions, rows = [], past] = await this.#connection.run([
      this.#statements.version(environmentId),
      at === undefined
        ? this.#statements.present(environmentId)
        : this.#statements.past(environmentId, at),
      ...(at === undefined ? [] : [this.#statements.pastVersion(environmentId, at)]),
    ])
    const present = headIn(versions)
    const entries = rows.map(toLogEntry)
    if (at === undefined && present.version + entries.length > 0) {
      const read = { version: present.version, entries }
      await this.#slices.run(assertIntact(environmentId, present.digest, read))
    }
    const version = at ?? present.version
    if (present.version === 0 || version < 0 || version > present.version) return undefined
    const { clientVersion } = headIn(past ?? versions)
    return this.#slices.run(toFlagSet({ version, clientVersion }, entries))
  }

  async loadChanges(environmentId: string, since: number): Promise<DefinitionChanges> {
    const [versions, after = [], before = []] = await this.#connection.run([
      this.#statements.version(environmentId),
      this.#statements.changedAfter(environmentId, since),
      this.#statements.segmentsBefore(environmentId, since),
    ])
    const entries = { after: after.map(toLogEntry), before: before.map(toLogEntry) }
    return this.#slices.run(toChanges(entries, { ...headIn(versions), since }))
  }

  async loadFlagHistory(query: FlagHistoryQuery): Promise<readonly FlagPublication[]> {
    const statement = this.#statements.flagHistory(query)
    const [rows = []] = await this.#connection.run([statement])
    return this.#slices.run(toFlagHistory(rows.map(toLogEntry)))
  }

  async #publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    { affectsClients = true, ...metadata }: PublishMetadata,
  ): Promise<number> {
    const topics = changes.map(topicOf).flatMap((topic) => {
      const definition = definitionOf(topic)
      return definition.kind === topic.kind ? [topic] : [topic, definition]
    })
    const [, versions, ...states] = await this.#connection.run([
      this.#statements.claim(environmentId),
      this.#statements.version(environmentId),
      ...topics.map((topic) => this.#statements.topic(environmentId, topic)),
    ])
    const found = new Map<string, readonly LogEntry[]>(
      topics.map((topic, index) => [topicName(topic), (states[index] ?? []).map(toLogEntry)]),
    )
    const present = (topic: LogTopic) => found.get(topicName(topic)) ?? []
    const head = headIn(versions)
    const version = head.version + 1
    const entries = await this.#slices.run(newEntries({ version, changes, present }))
    if (entries.length === 0) return head.version
    const replaced = entries.filter((entry) => entry.baseVersion === version).flatMap(present)
    const changed = [...replaced, ...entries]
    const digest = await this.#slices.run(nextDigest(head.digest, { version, entries: changed }))
    const content = await this.#slices.run(contentOf(entries, { changes, present }))
    const published = { version, ...metadata, ...content }
    const clientVersion = affectsClients ? version : head.clientVersion
    this.#connection.defer([
      ...entries.flatMap((entry) => this.#statements.append(environmentId, entry)),
      this.#statements.appendVersion(environmentId, published, clientVersion),
      this.#statements.setVersion(environmentId, version, digest),
    ])
    return version
  }
}

/**
 * Returns the version, the client version and the digest in the first row. Without a row, returns
 * the values of an environment without publications.
 */
function headIn(rows: readonly SqlRow[] | undefined) {
  const { version = 0, client_version: clientVersion, digest = EMPTY_DIGEST } = rows?.[0] ?? {}
  const numbers = { version: Number(version), clientVersion: Number(clientVersion ?? version) }
  return { ...numbers, digest: String(digest) }
}
