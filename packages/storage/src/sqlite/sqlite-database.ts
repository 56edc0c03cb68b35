import type { SqlValue } from '../sql/sql-driver.ts'

/** The interface of a host's database. `node:sqlite` and better-sqlite3 implement it. */
export interface SqliteDatabase {
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement
}

/** A prepared statement of a host's database. */
export interface SqliteStatement {
  /** `false` if the statement returns no rows and `all` would throw, as in better-sqlite3. */
  readonly reader?: boolean
  /** Runs the statement and returns its rows. */
  all(...parameters: SqlValue[]): unknown[]
  /** Runs the statement without returning rows. */
  run(...parameters: SqlValue[]): unknown
}
