import { isRefusal, storeClosed, transactionEnded } from '../ports/record-errors.ts'
import { SerialQueue } from '../runtime/serial-queue.ts'
import {
  plain,
  type SqlConnection,
  type SqlDriver,
  type SqlRow,
  type SqlStatement,
  type SqlTransaction,
} from '../sql/sql-driver.ts'
import { BEGIN, COMMIT, ROLLBACK } from './sqlite-connection.js'

/** The rows of each statement, in the order of the statements. */
export type SqlRows = readonly (readonly SqlRow[])[]

/** Sends statements to a connection that writes and, optionally, to a connection that reads. */
export interface SqliteChannel {
  /**
   * `true` if there is a separate connection for reading. If `false`, reads wait for transactions.
   */
  readonly hasReader: boolean
  /** `true` if other processes use the same writing connection, so that transactions take turns. */
  readonly isShared: boolean
  /** Runs statements on the writing connection; see `SqliteConnection.write`. */
  write(statements: readonly SqlStatement[]): Promise<SqlRows>
  /** Runs statements for reading. All of them see the same committed state. */
  read(statements: readonly SqlStatement[]): Promise<SqlRows>
  /** Closes the connections. */
  close(): Promise<void>
}

/** A driver for SQLite. It ignores locks, because SQLite runs one write transaction at a time. */
export class SqliteDriver implements SqlDriver {
  readonly reader: SqlConnection
  readonly #channel: SqliteChannel
  readonly #writers = new SerialQueue()
  #isClosed = false

  constructor(channel: SqliteChannel) {
    this.#channel = channel
    this.reader = { run: (statements) => this.#read(statements) }
  }

  async transaction<T>(
    _lock: string,
    work: (connection: SqlTransaction) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw storeClosed()
    return this.#writers.run(() => this.#transact(work))
  }

  async runAlone(statement: SqlStatement): Promise<readonly SqlRow[]> {
    const [rows = []] = await this.transaction('', (connection) => connection.run([statement]))
    return rows
  }

  async close(): Promise<void> {
    if (this.#isClosed) return this.#writers.run(async () => undefined)
    this.#isClosed = true
    return this.#writers.run(() => this.#channel.close())
  }

  async #read(statements: readonly SqlStatement[]): Promise<SqlRows> {
    if (this.#isClosed) throw storeClosed()
    if (this.#channel.hasReader) return this.#channel.read(statements)
    return this.#writers.run(() => this.#channel.read(statements))
  }

  async #transact<T>(work: (connection: SqlTransaction) => Promise<T>): Promise<T> {
    const transaction = new Transaction(this.#channel)
    try {
      if (this.#channel.isShared) await transaction.run([])
      const result = await work(transaction)
      await transaction.commit()
      return result
    } catch (error) {
      await transaction.rollback()
      throw error
    }
  }
}

/**
 * A transaction. It is usable until it ends or an error other than `CONFLICT` or `INVALID_REQUEST`
 * occurs. `BEGIN` is sent with the first statements. Deferred statements are sent with the next
 * statements or with the commit.
 */
class Transaction implements SqlTransaction {
  readonly #channel: SqliteChannel
  #deferred: SqlStatement[] = []
  #finishing: Promise<void> | undefined
  #hasBegun = false
  #hasEnded = false
  #failure: unknown

  constructor(channel: SqliteChannel) {
    this.#channel = channel
  }

  async run(statements: readonly SqlStatement[]): Promise<SqlRows> {
    this.#refuseIfOver()
    if (this.#deferred.length > 0) {
      this.#finishing = this.#finish([])
      this.#finishing.catch(() => undefined)
    }
    try {
      return await this.#write(statements)
    } catch (error) {
      if (!isRefusal(error)) this.#failure = error
      throw error
    }
  }

  defer(statements: readonly SqlStatement[]): void {
    if (this.#hasEnded) throw transactionEnded()
    this.#deferred.push(...statements)
  }

  /** Commits the transaction. Throws if it is unusable because of an earlier error. */
  async commit(): Promise<void> {
    this.#refuseIfOver()
    this.#hasEnded = true
    await this.#finishing
    if (this.#hasBegun || this.#deferred.length > 0) await this.#finish([plain(COMMIT)])
  }

  async rollback(): Promise<void> {
    this.#hasEnded = true
    if (!this.#hasBegun) return
    // After some errors, SQLite has already rolled back, and this statement fails.
    await this.#channel.write([plain(ROLLBACK)]).catch(() => undefined)
  }

  /**
   * Runs the deferred statements and then `statements`. After any error, the transaction is
   * unusable.
   */
  async #finish(statements: readonly SqlStatement[]): Promise<void> {
    const deferred = this.#deferred
    this.#deferred = []
    try {
      await this.#write([...deferred, ...statements])
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  async #write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    if (this.#hasBegun) return this.#channel.write(statements)
    this.#hasBegun = true
    const [, ...rows] = await this.#channel.write([plain(BEGIN), ...statements])
    return rows
  }

  #refuseIfOver(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#hasEnded) throw transactionEnded()
  }
}
