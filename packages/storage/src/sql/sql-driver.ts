/** What a column holds; a driver returns whole numbers of every size as numbers. */
export type SqlValue = string | number | boolean | null

/** A row, by column. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/** A statement with its parameters. */
export interface SqlStatement {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** Returns the statement without parameters. */
export function plain(sql: string): SqlStatement {
  return { sql, parameters: [] }
}

/** A connection that runs statements. */
export interface SqlConnection {
  /**
   * Runs the statements one after another and answers the rows of each. The driver's own errors
   * are translated here: `CONFLICT` for a unique key that is taken, `INVALID_REQUEST` for a value
   * that its column does not take, else `UNAVAILABLE`.
   */
  run(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>
}

/** The connection of a transaction. */
export interface SqlTransaction extends SqlConnection {
  /**
   * Defers the statements until the next `run` or the commit, which executes them first. If one of
   * them fails, so does the transaction.
   */
  defer(statements: readonly SqlStatement[]): void
}

/** What a database brings to be a store. */
export interface SqlDriver {
  /** For statements that only read; those of one `run` all see the same committed state. */
  readonly reader: SqlConnection

  /**
   * Runs `work` in one transaction, durable once this resolves and rolled back when it throws;
   * holders of the same lock one after another. `CONFLICT` and `INVALID_REQUEST` inside leave it
   * usable, after anything else nothing can be committed any more.
   */
  transaction<T>(lock: string, work: (connection: SqlTransaction) => Promise<T>): Promise<T>

  /** Ends what was begun, then refuses everything. */
  close(): Promise<void>
}
