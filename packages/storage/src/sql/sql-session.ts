import type { FlagSetDefinition } from '@ff/core'
import { type DeliveryClaim, webhooksAtLimit } from '../ports/delivery-claim.ts'
import type {
  DefinitionChange,
  DefinitionChanges,
  FlagHistoryQuery,
  FlagPublication,
  NewestVersions,
  PublishedVersion,
  PublishMetadata,
  VersionPage,
} from '../ports/publications.ts'
import { refuseToPurgeAll } from '../ports/purge-query.ts'
import { recordNotFound, staleRevision } from '../ports/record-errors.ts'
import type { Kind, Records } from '../ports/records.ts'
import { changesSdkKeys } from '../ports/sdk-key-changes.ts'
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
import { type Interruptible, TimeSlices } from '../runtime/time-slice.ts'
import { mergeApiCalls } from '../usage/api-calls.ts'
import { mergeContextSamples } from '../usage/context-samples.ts'
import { mergeCounts } from '../usage/evaluation-counts.ts'
import { DeliveryStatements } from './delivery-statements.ts'
import type { SqlDialect } from './dialect.ts'
import { PublicationStatements } from './publication-statements.ts'
import { RecordStatements } from './record-statements.ts'
import { fromRow, rowReader, toEvaluationTotal, toObservedAttributes } from './rows.ts'
import { NEXT_SDK_KEY_VERSION, SDK_KEY_VERSION } from './sdk-key-version.ts'
import type { SqlRow, SqlStatement, SqlTransaction } from './sql-driver.ts'
import { SqlPublicationLog } from './sql-publication-log.ts'
import { UsageStatements } from './usage-statements.ts'

/** The maximum number of ids in one statement. */
const MOST_IDS = 1000

/** The statements of a store, shared by its sessions. */
export class SqlStatements {
  readonly records: RecordStatements
  readonly log: PublicationStatements
  readonly usage: UsageStatements
  readonly deliveries: DeliveryStatements

  constructor(dialect: SqlDialect) {
    this.records = new RecordStatements(dialect)
    this.log = new PublicationStatements(dialect)
    this.usage = new UsageStatements(dialect)
    this.deliveries = new DeliveryStatements(dialect)
  }
}

/** A session on one connection: the connection of a transaction, or the connection for reading. */
export class SqlSession implements StorageSession {
  readonly #connection: SqlTransaction
  readonly #records: RecordStatements
  readonly #log: PublicationStatements
  readonly #usage: UsageStatements
  readonly #deliveries: DeliveryStatements
  readonly #publications: SqlPublicationLog
  readonly #slices = new TimeSlices()

  constructor(connection: SqlTransaction, { records, log, usage, deliveries }: SqlStatements) {
    this.#connection = connection
    this.#records = records
    this.#log = log
    this.#usage = usage
    this.#deliveries = deliveries
    this.#publications = new SqlPublicationLog({
      connection,
      statements: log,
      slices: this.#slices,
    })
  }

  async find<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const [rows = []] = await this.#connection.run([this.#records.find(kind, id)])
    return rows[0] === undefined ? undefined : fromRow(kind, rows[0])
  }

  async hold<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const [rows = []] = await this.#connection.run([this.#records.hold(kind, id)])
    return rows[0] === undefined ? undefined : fromRow(kind, rows[0])
  }

  async findDeleted<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
    const find = this.#records.findDeleted(kind, id)
    const [rows = []] = find === undefined ? [] : await this.#connection.run([find])
    return rows[0] === undefined ? undefined : fromRow(kind, rows[0])
  }

  async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Page<Records[K]>> {
    const [rows = [], totals] = await this.#connection.run(this.#records.list(kind, query))
    const data = await this.#slices.run(each(rows, rowReader(kind, rows[0] ?? {})))
    return { data, total: Number(totals?.[0]?.total ?? data.length) }
  }

  async insert<K extends Kind>(kind: K, record: Records[K]): Promise<void> {
    await this.#connection.run([this.#records.insert(kind, record)])
    this.#noteKeyChange(changesSdkKeys(kind, record))
  }

  async update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision?: number,
  ): Promise<Records[K]> {
    const update = this.#records.update(kind, id, changes, expectedRevision)
    const [rows = []] = await this.#connection.run([update])
    if (rows[0] !== undefined) {
      this.#noteKeyChange(changesSdkKeys(kind, changes))
      return fromRow(kind, rows[0])
    }
    const isLiving = (await this.find(kind, id)) !== undefined
    throw isLiving ? staleRevision(kind, id) : recordNotFound(kind, id)
  }

  async revive<K extends Kind>(kind: K, id: string): Promise<Records[K]> {
    const revive = this.#records.revive(kind, id)
    const [rows = []] = revive === undefined ? [] : await this.#connection.run([revive])
    if (rows[0] === undefined) throw recordNotFound(kind, id)
    this.#noteKeyChange(changesSdkKeys(kind, rows[0]))
    return fromRow(kind, rows[0])
  }

  publish(
    environmentId: string,
    changes: readonly DefinitionChange[],
    metadata: PublishMetadata,
  ): Promise<number> {
    return this.#publications.publish(environmentId, changes, metadata)
  }

  async findVersions(environmentIds: readonly string[]): Promise<NewestVersions> {
    const [keys, ...rows] = await this.#connection.run([
      SDK_KEY_VERSION,
      ...inChunks(environmentIds, (ids) => this.#log.versionsOf(ids)),
    ])
    const environments = new Map(
      rows.flat().map(({ id, version, revision }) => {
        return [String(id), { version: Number(version), revision: Number(revision) }]
      }),
    )
    return { environments, sdkKeys: Number(keys?.[0]?.version ?? 0) }
  }

  listVersions(environmentId: string, page: VersionPage): Promise<Page<PublishedVersion>> {
    return this.#publications.listVersions(environmentId, page)
  }

  loadFlagSet(environmentId: string, at?: number): Promise<FlagSetDefinition | undefined> {
    return this.#publications.loadFlagSet(environmentId, at)
  }

  loadChanges(environmentId: string, since: number): Promise<DefinitionChanges> {
    return this.#publications.loadChanges(environmentId, since)
  }

  loadFlagHistory(query: FlagHistoryQuery): Promise<readonly FlagPublication[]> {
    return this.#publications.loadFlagHistory(query)
  }

  async addEvaluationCounts(counts: readonly EvaluationCount[]): Promise<void> {
    if (counts.length === 0) return
    await this.#connection.run([this.#usage.addCounts(mergeCounts(counts))])
  }

  async loadEvaluationCounts(query: EvaluationCountQuery): Promise<readonly EvaluationTotal[]> {
    const [rows = []] = await this.#connection.run([this.#usage.totals(query)])
    return rows.map(toEvaluationTotal)
  }

  async dropEvaluationCounts(beforeMinute: string): Promise<void> {
    await this.#connection.run([this.#usage.dropCounts(beforeMinute)])
  }

  async markEvaluated(flagIds: readonly string[], at: string): Promise<readonly string[]> {
    if (flagIds.length === 0) return []
    const marks = inChunks(flagIds, (ids) => this.#usage.mark(ids, at))
    const reads = inChunks(flagIds, (ids) => this.#usage.unmarked(ids, at))
    const results = await this.#connection.run([...marks, ...reads])
    return results.slice(marks.length).flatMap((rows) => rows.map(({ id }) => String(id)))
  }

  async addApiCalls(calls: readonly ApiCalls[]): Promise<void> {
    if (calls.length === 0) return
    await this.#connection.run([this.#usage.addApiCalls(mergeApiCalls(calls))])
  }

  async loadApiCalls(organizationIds?: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const statements =
      organizationIds === undefined
        ? [this.#usage.apiCalls()]
        : inChunks(organizationIds, (ids) => this.#usage.apiCalls(ids))
    const rows = statements.length === 0 ? [] : await this.#connection.run(statements)
    return new Map(rows.flat().map((row) => [String(row.organization_id), Number(row.calls)]))
  }

  async takeApiCalls(organizationId: string): Promise<number> {
    const [rows = []] = await this.#connection.run([this.#usage.takeApiCalls(organizationId)])
    return rows.reduce((sum, { calls }) => sum + Number(calls), 0)
  }

  async recordContextSamples(samples: readonly ContextSample[]): Promise<void> {
    if (samples.length === 0) return
    await this.#connection.run([this.#usage.recordContextSamples(mergeContextSamples(samples))])
  }

  async loadContexts(query: ContextQuery): Promise<Page<ObservedAttributes>> {
    const [rows = [], totals] = await this.#connection.run(this.#usage.contexts(query))
    const data = await this.#slices.run(each(rows, toObservedAttributes))
    return { data, total: Number(totals?.[0]?.total ?? data.length) }
  }

  async claimDeliveries(claim: DeliveryClaim): Promise<readonly Records['webhookDelivery'][]> {
    const [rows = []] = await this.#connection.run([this.#deliveries.claim(claim)])
    const claimed = rows.map((row) => fromRow('webhookDelivery', row))
    const full = webhooksAtLimit(claim, claimed)
    if (full.length > 0) await this.#connection.run([this.#deliveries.postpone(claim, full)])
    return claimed
  }

  async purge<K extends Kind>(kind: K, query: PurgeQuery<K>): Promise<number> {
    refuseToPurgeAll(query)
    const [rows = []] = await this.#connection.run([this.#records.purge(kind, query)])
    this.#noteKeyChange(rows.length > 0 && kind === 'sdkKey')
    return rows.length
  }

  #noteKeyChange(isChanged: boolean): void {
    if (isChanged) this.#connection.defer([NEXT_SDK_KEY_VERSION])
  }
}

/** Creates a statement for each group of ids that fits into one statement. */
function inChunks(
  ids: readonly string[],
  statementOf: (some: readonly string[]) => SqlStatement,
): readonly SqlStatement[] {
  return Array.from({ length: Math.ceil(ids.length / MOST_IDS) }, (_, index) =>
    statementOf(ids.slice(index * MOST_IDS, (index + 1) * MOST_IDS)),
  )
}

/** Converts rows one by one. The caller can pause the work at each `yield`. */
function* each<T>(
  rows: readonly SqlRow[],
  convert: (row: SqlRow) => T,
): Interruptible<readonly T[]> {
  const converted: T[] = []
  for (const row of rows) {
    converted.push(convert(row))
    yield
  }
  return converted
}
