import { FlagError } from '@ff/core'
import type { SqlDialect } from './dialect.ts'
import { APPLIED, assertKnown, SCHEMA, tablesAfter } from './migrate.ts'
import { plain, type SqlConnection, type SqlRow } from './sql-driver.ts'

/** The table of the migrations. It has the same rows in all stores of one schema. */
const MIGRATION_TABLE = 'ff_migration'

/** A connection to a database with tables. */
export interface TableDatabase {
  readonly connection: SqlConnection
  readonly dialect: SqlDialect
}

/** A table. Its columns are ordered by name. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
  readonly booleans: ReadonlySet<string>
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[]
}

/** Returns `true` if the database contains tables of a store. */
export async function hasTables({ connection, dialect }: TableDatabase): Promise<boolean> {
  const [rows = []] = await connection.run([plain(dialect.catalog)])
  return rows.length > 0
}

/**
 * Returns the names of the migrations that a database has. Throws `UNAVAILABLE` if there is no
 * store, or if a later release has migrated it.
 */
export async function loadSchema(database: TableDatabase): Promise<readonly string[]> {
  if (!(await hasTables(database))) throw new FlagError('UNAVAILABLE', 'There is no store.')
  const [rows = []] = await database.connection.run([APPLIED])
  const names = rows.map(({ name }) => String(name))
  assertSchema(names)
  return names
}

/** Throws `UNAVAILABLE` if the names are not those of the first migrations, in their order. */
export function assertSchema(names: readonly string[]): void {
  assertKnown(names)
  if (names.length > 0 && names.every((name, index) => name === SCHEMA[index])) return
  throw new FlagError('UNAVAILABLE', 'Migrations of the store are missing.')
}

/**
 * Returns all tables, ordered by name, except that of the migrations. Throws `UNAVAILABLE` if they
 * are not the tables that these migrations create.
 */
export async function loadShapes(
  { connection, dialect }: TableDatabase,
  schema: readonly string[],
): Promise<readonly TableShape[]> {
  const [rows = []] = await connection.run([plain(dialect.catalog)])
  const columns = new Map<string, SqlRow[]>()
  for (const row of rows) {
    const name = String(row.table)
    columns.set(name, [...(columns.get(name) ?? []), row])
  }
  columns.delete(MIGRATION_TABLE)
  const expected = tablesAfter(schema.length, dialect)
  for (const name of columns.keys()) {
    if (!expected.has(name)) throw unsuitable(name, 'does not belong to the store: rename it')
  }
  for (const name of expected) if (!columns.has(name)) throw unsuitable(name, 'is missing')
  return [...columns].map(([name, of]) => toShape(name, of))
}

function toShape(name: string, rows: readonly SqlRow[]): TableShape {
  const nameOf = ({ column }: SqlRow) => String(column)
  const position = (row: SqlRow) => Number(row.key_position)
  const key = rows.filter((row) => position(row) > 0).sort((a, b) => position(a) - position(b))
  if (key.length === 0) throw unsuitable(name, 'has no primary key')
  const booleans = rows.filter((row) => Boolean(row.is_boolean))
  return {
    name,
    columns: rows.map(nameOf),
    booleans: new Set(booleans.map(nameOf)),
    key: key.map(nameOf),
  }
}

function unsuitable(table: string, fault: string): FlagError {
  return new FlagError('UNAVAILABLE', `The table ${table} ${fault}.`)
}
