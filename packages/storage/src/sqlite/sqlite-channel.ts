import type { SqlRow, SqlStatement } from '../sql/sql-driver.ts'

/** What one statement after another answered. */
export type SqlRows = readonly (readonly SqlRow[])[]

/** The way to a database's connections: one that writes, and perhaps one that only reads. */
export interface SqliteChannel {
  /** Without a reader of its own, reading must wait while a transaction is open. */
  readonly hasReader: boolean
  /**
   * Runs the statements, the first of which begins a transaction unless one is open. After a
   * failure other than a refusal of its values, what is left of the transaction is refused: SQLite may
   * have rolled it back, and what ran next would be kept by itself.
   */
  write(statements: readonly SqlStatement[]): Promise<SqlRows>
  /** Runs the statements on one committed state. */
  read(statements: readonly SqlStatement[]): Promise<SqlRows>
  close(): Promise<void>
}

/** What begins a transaction, and what ends it. The thread of a data file knows them as well. */
export const BEGIN: SqlStatement = { sql: 'begin immediate', parameters: [] }
export const COMMIT: SqlStatement = { sql: 'commit', parameters: [] }
export const ROLLBACK: SqlStatement = { sql: 'rollback', parameters: [] }

/** Whether what was before does not matter to these. */
export function isFresh(statements: readonly SqlStatement[]): boolean {
  const [first] = statements
  return first?.sql === BEGIN.sql || first?.sql === ROLLBACK.sql
}
