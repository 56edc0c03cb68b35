import type { SqlRow, SqlStatement } from '../sql/sql-driver.ts'

/** What one statement after another answered. */
export type SqlRows = readonly (readonly SqlRow[])[]

/** The way to a database's connections: one that writes, and perhaps one that only reads. */
export interface SqliteChannel {
  /** Without a reader of its own, reading must wait while a transaction is open. */
  readonly hasReader: boolean
  /** Runs the statements in the open transaction, or as they are when there is none. */
  write(statements: readonly SqlStatement[]): Promise<SqlRows>
  /** Runs the statements on one committed state. */
  read(statements: readonly SqlStatement[]): Promise<SqlRows>
  close(): Promise<void>
}
