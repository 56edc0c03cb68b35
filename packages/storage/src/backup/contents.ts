import { createHash } from 'node:crypto'
import { FlagError } from '@ff/core'
import { COPY_HOLDER, JOBS_LEASE } from '../ports/leases.ts'
import { LeaseStatements } from '../sql/lease-statements.ts'
import { runMigrations } from '../sql/migrate.ts'
import type { StoredTables } from '../sql/stored-tables.ts'
import { insertPage, pagesOf, type TablePage } from '../sql/table-pages.ts'
import { hasTables, loadSchema, loadShapes, type TableDatabase } from '../sql/table-shapes.ts'

const INACTIVE = { name: JOBS_LEASE, holder: COPY_HOLDER }

/** The number of rows of each table. */
export type RowCounts = Readonly<Record<string, number>>

/** The contents of all tables at one moment. */
export interface Contents {
  /** The names of the migrations that created the tables. */
  readonly schema: readonly string[]
  readonly pages: AsyncIterable<TablePage>
}

/** What identifies contents. Equal contents have the same digest in every database. */
export interface ContentSummary {
  readonly rows: RowCounts
  /** The SHA-256 of the lines of the schema, the tables and the rows. */
  readonly sha256: string
}

/** Converts pages to lines of JSON, and computes their summary. */
export class ContentDigest {
  readonly #hash = createHash('sha256')
  readonly #rows = new Map<string, number>()

  constructor(schema: readonly string[]) {
    this.#hash.update(toLine(schema))
  }

  /** Adds the next page. Returns its lines: the first page of a table begins with its columns. */
  add({ table, columns, rows }: TablePage): string {
    const before = this.#rows.get(table)
    const head = before === undefined ? toLine({ table, columns }) : ''
    const text = head + rows.map(toLine).join('')
    this.#rows.set(table, (before ?? 0) + rows.length)
    this.#hash.update(text)
    return text
  }

  /** Returns the summary of all pages. Must be called once, after the last page. */
  summary(): ContentSummary {
    return { rows: Object.fromEntries(this.#rows), sha256: this.#hash.digest('hex') }
  }
}

/** Returns a line of JSON. */
export function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}

/** Passes the contents of a store, at one moment, to `work`, and returns its result. */
export function readContents<T>(
  tables: StoredTables,
  work: (contents: Contents) => Promise<T>,
): Promise<T> {
  const { dialect } = tables
  return tables.read(async (connection) => {
    const database = { connection, dialect }
    const schema = await loadSchema(database)
    return work({ schema, pages: pagesOf(database, await loadShapes(database, schema)) })
  })
}

/** How a store is created from the contents of another. */
export interface Creation {
  /** `true` if servers run background jobs with the new store before it is activated. */
  readonly isActive?: boolean
  /** Called before the new store becomes visible. If it throws, nothing is created. */
  readonly beforeCommit?: () => void | Promise<void>
}

/**
 * Creates a store with these contents, and returns their summary. Reads all rows again before the
 * transaction is committed, and compares them. Then migrates the store to the current schema, and
 * calls `beforeCommit`. If any of this throws, nothing is created.
 */
export function createContents(
  tables: StoredTables,
  { schema, pages }: Contents,
  { isActive = false, beforeCommit = () => undefined }: Creation = {},
): Promise<ContentSummary> {
  const { dialect, place } = tables
  return tables.create(async (connection) => {
    const database = { connection, dialect }
    if (await hasTables(database)) throw notEmpty(place)
    await runMigrations(connection, dialect, schema.length)
    const written = await insertAll(database, { schema, pages })
    const stored = new ContentDigest(schema)
    const shapes = await loadShapes(database, schema)
    for await (const page of pagesOf(database, shapes)) stored.add(page)
    if (stored.summary().sha256 !== written.sha256) throw notEqual(place)
    await runMigrations(connection, dialect)
    if (!isActive) await connection.run(new LeaseStatements(dialect).replaceAll(INACTIVE))
    await beforeCommit()
    return written
  })
}

async function insertAll(
  database: TableDatabase,
  { schema, pages }: Contents,
): Promise<ContentSummary> {
  const shapes = await loadShapes(database, schema)
  const columns = new Map(shapes.map((shape) => [shape.name, shape.columns.join()]))
  const digest = new ContentDigest(schema)
  for await (const page of pages) {
    // The names become parts of statements.
    if (columns.get(page.table) !== page.columns.join()) throw unknownColumns(page.table)
    await insertPage(database, page)
    digest.add(page)
  }
  return digest.summary()
}

function notEmpty(place: string): FlagError {
  const message = `The database of ${place} is not empty: it has tables whose names begin with "ff_".`
  return new FlagError('CONFLICT', message)
}

function notEqual(place: string): FlagError {
  return new FlagError('INTERNAL', `The rows in ${place} differ from those that were written.`)
}

function unknownColumns(table: string): FlagError {
  const message = `The table ${table} does not have the columns of its schema.`
  return new FlagError('INVALID_REQUEST', message)
}
