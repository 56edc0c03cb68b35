import type { SqlValue } from '../sql/sql-driver.ts'

/** What a host's database must be able to do: `node:sqlite` and better-sqlite3 both can. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
}

/** A prepared statement of a host's database. */
export interface SqliteStatement {
  /** better-sqlite3 refuses `all` on a statement that answers no rows, and says so here. */
  readonly reader?: boolean
  all(...parameters: SqlValue[]): unknown[]
  run(...parameters: SqlValue[]): unknown
}
