import { isFlagError } from '@ff/core'
import { storeClosed, transactionEnded } from '../record-errors.ts'
import { SerialQueue } from '../serial-queue.ts'
import type { SqlConnection, SqlDriver, SqlStatement } from '../sql/sql-driver.ts'
import type { SqliteChannel, SqlRows } from './sqlite-channel.ts'

/** One transaction at a time, whatever its lock: SQLite has one writer. */
export class SqliteDriver implements SqlDriver {
  readonly reader: SqlConnection
  readonly #channel: SqliteChannel
  readonly #writers = new SerialQueue()
  #isClosed = false

  constructor(channel: SqliteChannel) {
    this.#channel = channel
    this.reader = { run: (statements) => this.#read(statements) }
  }

  async transaction<T>(_lock: string, work: (connection: SqlConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeClosed()
    return this.#writers.run(() => this.#transact(work))
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

  async #transact<T>(work: (connection: SqlConnection) => Promise<T>): Promise<T> {
    await this.#channel.write([plain('begin immediate')])
    const connection = new TransactionConnection(this.#channel)
    try {
      const result = await work(connection)
      connection.end()
      await this.#channel.write([plain('commit')])
      return result
    } catch (error) {
      connection.abandon()
      // Some failures make SQLite roll back by itself, and then there is nothing left to do.
      await this.#channel.write([plain('rollback')]).catch(() => undefined)
      throw error
    }
  }
}

/** The connection as one transaction may use it: until its end, and until the store fails. */
class TransactionConnection implements SqlConnection {
  readonly #channel: SqliteChannel
  #hasEnded = false
  #failure: unknown

  constructor(channel: SqliteChannel) {
    this.#channel = channel
  }

  async run(statements: readonly SqlStatement[]): Promise<SqlRows> {
    this.#refuseIfOver()
    try {
      return await this.#channel.write(statements)
    } catch (error) {
      // SQLite may have rolled back: what ran next would be kept at once, by itself.
      if (!isFlagError(error) || error.code !== 'CONFLICT') this.#failure = error
      throw error
    }
  }

  /** Throws when the transaction met a failure, even one that was caught. */
  end(): void {
    this.#refuseIfOver()
    this.#hasEnded = true
  }

  abandon(): void {
    this.#hasEnded = true
  }

  #refuseIfOver(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#hasEnded) throw transactionEnded()
  }
}

function plain(sql: string): SqlStatement {
  return { sql, parameters: [] }
}
