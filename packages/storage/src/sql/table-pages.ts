import { FlagError } from '@ff/core'
import { type RawBuilder, sql } from 'kysely'
import { isRefusal } from '../ports/record-errors.ts'
import type { SqlDialect } from './dialect.ts'
import type { SqlRow, SqlStatement, SqlValue } from './sql-driver.ts'
import { toStatement } from './statement-templates.ts'
import type { TableDatabase, TableShape } from './table-shapes.ts'

/** The maximum number of rows in a page. */
export const PAGE_ROWS = 500
/** The maximum length of the texts in a page, unless its only row is longer. */
export const PAGE_LENGTH = 4 * 1024 * 1024
/** The maximum number of parameters of a statement. SQLite permits 32,766. */
const MOST_PARAMETERS = 30_000

/** The values of a row, in the order of the columns. They are equal in every database. */
export type TableRow = readonly SqlValue[]

/** Some rows of a table, in the order of the primary key. */
export interface TablePage {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly TableRow[]
}

/** Reads all rows of the tables. The last page of each table is empty. */
export async function* pagesOf(
  database: TableDatabase,
  shapes: readonly TableShape[],
): AsyncGenerator<TablePage> {
  for (const shape of shapes) {
    let last: TableRow | undefined
    do {
      const rows = await readRows(database, shape, last)
      yield { table: shape.name, columns: shape.columns, rows }
      last = rows.at(-1)
    } while (last !== undefined)
  }
}

/** Reads the rows after a row, or the first rows. */
async function readRows(
  { connection, dialect }: TableDatabase,
  shape: TableShape,
  last: TableRow | undefined,
): Promise<readonly TableRow[]> {
  const statements = new PageStatements(dialect, shape, last)
  const [lengths = []] = await connection.run([statements.lengths()])
  const count = countOf(lengths)
  if (count === 0) return []
  const [rows = []] = await connection.run([statements.rows(count)])
  return rows.map((row) => toTableRow(row, shape))
}

/** Returns the number of rows, of those with these lengths, that a page contains. */
function countOf(rows: readonly SqlRow[]): number {
  let total = 0
  for (const [index, { length }] of rows.entries()) {
    total += Number(length)
    if (total > PAGE_LENGTH) return Math.max(1, index)
  }
  return rows.length
}

/** The statements that read the rows of a table after a row, or the first rows. */
class PageStatements {
  readonly #dialect: SqlDialect
  readonly #shape: TableShape
  readonly #after: RawBuilder<unknown>

  constructor(dialect: SqlDialect, shape: TableShape, last: TableRow | undefined) {
    this.#dialect = dialect
    this.#shape = shape
    const values = shape.key.map((column) => last?.[shape.columns.indexOf(column)] ?? null)
    this.#after =
      last === undefined
        ? sql``
        : sql`where (${columnsOf(shape.key)}) > (${sql.join(values.map((value) => toColumn(value, dialect)))})`
  }

  /** Selects the lengths of the next rows, so that the size of a page can be limited. */
  lengths(): SqlStatement {
    const lengths = this.#shape.columns.map(
      (column) => sql`coalesce(length(cast(${sql.ref(column)} as text)), 0)`,
    )
    return this.#select(sql`${sql.join(lengths, sql` + `)} as length`, PAGE_ROWS)
  }

  /** Selects the next rows. */
  rows(count: number): SqlStatement {
    return this.#select(columnsOf(this.#shape.columns), count)
  }

  #select(selected: RawBuilder<unknown>, limit: number): SqlStatement {
    const { name, key } = this.#shape
    const query = sql`select ${selected} from ${sql.table(name)} ${this.#after}
      order by ${columnsOf(key)} limit ${limit}`
    return toStatement(query.compile(this.#dialect.builder))
  }
}

function columnsOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)))
}

function toTableRow(row: SqlRow, { columns, booleans }: TableShape): TableRow {
  return columns.map((column) => {
    const value = row[column] ?? null
    return booleans.has(column) && value !== null ? Boolean(value) : value
  })
}

function toColumn(value: SqlValue, dialect: SqlDialect): SqlValue {
  return typeof value === 'boolean' ? dialect.fromBoolean(value) : value
}

/** Inserts rows. Throws `INVALID_REQUEST` if the database refuses one. */
export async function insertPage(
  { connection, dialect }: TableDatabase,
  { table, columns, rows }: TablePage,
): Promise<void> {
  const most = Math.max(1, Math.floor(MOST_PARAMETERS / columns.length))
  for (let start = 0; start < rows.length; start += most) {
    const values = rows
      .slice(start, start + most)
      .map((row) => sql`(${sql.join(row.map((value) => toColumn(value, dialect)))})`)
    const insert = sql`insert into ${sql.table(table)} (${columnsOf(columns)})
      values ${sql.join(values)}`
    try {
      await connection.run([toStatement(insert.compile(dialect.builder))])
    } catch (error) {
      throw isRefusal(error) ? rowRefused(table, error) : error
    }
  }
}

function rowRefused(table: string, error: unknown): FlagError {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const message = `The database refuses a row of the table ${table}.`
  return new FlagError('INVALID_REQUEST', message, { cause })
}
