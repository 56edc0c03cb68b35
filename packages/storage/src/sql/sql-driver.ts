/** The value of a column. A driver must return integers of every size as numbers. */
export type SqlValue = string | number | boolean | null

/** A row: the values by column. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/** An SQL statement with its parameters. */
export interface SqlStatement {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /**
   * How the statement can be refused; used if `SqlDialect.errorsEndTransactions`. `skips`: a taken
   * key is no error, but the statement writes no row, for which the driver throws `CONFLICT`.
   * `fails`: a taken key or a value can cause an error. Absent: no error is expected.
   */
  readonly refusal?: 'skips' | 'fails'
}

/** Creates a statement without parameters. */
export function plain(sql: string): SqlStatement {
  return { sql, parameters: [] }
}

/** A connection that runs statements. */
export interface SqlConnection {
  /**
   * Runs the statements one after another and returns the rows of each. Translates the errors of
   * the driver: throws `CONFLICT` for a violation of a unique key, `INVALID_REQUEST` for a value
   * that its column does not accept, `INTERNAL` for an unknown column, and otherwise `UNAVAILABLE`.
   */
  run(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>
}

/** A connection with an open transaction. */
export interface SqlTransaction extends SqlConnection {
  /**
   * Defers statements until the next `run` or the commit, before which they run. If a deferred
   * statement fails, the transaction fails.
   */
  defer(statements: readonly SqlStatement[]): void
}

/** Options of a transaction. */
export interface SqlTransactionOptions {
  /** `true` if the transaction has no time limits, because it migrates the database. */
  readonly isUnlimited?: boolean
}

/** Runs statements on a database. Each SQL database has its own driver. */
export interface SqlDriver {
  /** A connection for reading. All statements of one `run` see the same committed state. */
  readonly reader: SqlConnection

  /**
   * Runs `work` in a transaction and returns its result. The transaction is durable when the
   * promise resolves, and is rolled back if `work` throws. Transactions with the same lock run one
   * after another. After `CONFLICT` or `INVALID_REQUEST` in a statement, the transaction remains
   * usable. After any other error it cannot be committed.
   */
  transaction<T>(
    lock: string,
    work: (connection: SqlTransaction) => Promise<T>,
    options?: SqlTransactionOptions,
  ): Promise<T>

  /**
   * Runs one statement in a transaction of its own, without a lock, and returns its rows. The rest
   * is the same as for `transaction`.
   */
  runAlone(statement: SqlStatement): Promise<readonly SqlRow[]>

  /** Waits for running transactions and closes the database. Later calls throw `UNAVAILABLE`. */
  close(): Promise<void>
}
