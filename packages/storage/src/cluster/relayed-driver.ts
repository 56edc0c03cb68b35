import { storeClosed, transactionEnded } from '../ports/record-errors.ts'
import { SerialQueue } from '../runtime/serial-queue.ts'
import type { SqlConnection, SqlDriver, SqlStatement, SqlTransaction } from '../sql/sql-driver.ts'
import type { WorkerEnd } from './worker-end.ts'

/**
 * Reads by itself, and writes through the primary. Of one process only one transaction at a time
 * waits for the writer, so that processes take turns.
 */
export class RelayedDriver implements SqlDriver {
  readonly reader: SqlConnection
  readonly #own: SqlDriver
  readonly #primary: WorkerEnd
  readonly #writers = new SerialQueue()
  #isClosed = false

  /** `own` is asked to read only. */
  constructor(primary: WorkerEnd, own: SqlDriver) {
    this.#primary = primary
    this.#own = own
    this.reader = own.reader
  }

  async transaction<T>(lock: string, work: (connection: SqlTransaction) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeClosed()
    return this.#writers.run(() => this.#transact(lock, work))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    return this.#writers.run(() => this.#own.close())
  }

  async #transact<T>(lock: string, work: (connection: SqlTransaction) => Promise<T>): Promise<T> {
    const transaction = await this.#primary.ask({ type: 'begin', lock })
    const connection = new RelayedConnection(this.#primary, transaction)
    try {
      const result = await work(connection)
      const deferred = connection.end()
      await this.#primary.ask({ type: 'end', transaction, keep: true, deferred })
      return result
    } catch (error) {
      connection.end()
      // Whatever is answered, nothing is kept.
      await this.#primary
        .ask({ type: 'end', transaction, keep: false, deferred: [] })
        .catch(() => undefined)
      throw error
    }
  }
}

/** A transaction that the primary holds open for this process. */
class RelayedConnection implements SqlTransaction {
  readonly #primary: WorkerEnd
  readonly #transaction: string
  #deferred: SqlStatement[] = []
  #hasEnded = false

  constructor(primary: WorkerEnd, transaction: string) {
    this.#primary = primary
    this.#transaction = transaction
  }

  async run(statements: Parameters<SqlConnection['run']>[0]): ReturnType<SqlConnection['run']> {
    if (this.#hasEnded) throw transactionEnded()
    const deferred = this.#takeDeferred()
    return this.#primary.ask({ type: 'run', transaction: this.#transaction, deferred, statements })
  }

  defer(statements: readonly SqlStatement[]): void {
    if (this.#hasEnded) throw transactionEnded()
    this.#deferred.push(...statements)
  }

  /** Ends the session and returns the deferred statements. */
  end(): readonly SqlStatement[] {
    this.#hasEnded = true
    return this.#takeDeferred()
  }

  #takeDeferred(): readonly SqlStatement[] {
    const deferred = this.#deferred
    this.#deferred = []
    return deferred
  }
}
