import { FlagError } from '@ff/core'
import { storeClosed, transactionEnded } from '../ports/record-errors.ts'
import { SerialQueue } from '../runtime/serial-queue.ts'
import { plain, type SqlStatement } from '../sql/sql-driver.ts'
import { COMMIT, ROLLBACK } from '../sqlite/sqlite-connection.js'
import type { SqliteChannel, SqlRows } from '../sqlite/sqlite-driver.ts'

/** The writing connection, which the transactions of all workers use one after another. */
export class SharedWriter {
  readonly #channel: SqliteChannel
  readonly #turns = new SerialQueue()
  #isClosed = false

  constructor(channel: SqliteChannel) {
    this.#channel = channel
  }

  /**
   * Waits until no other transaction is open and returns the function that ends the turn. Throws
   * `UNAVAILABLE` after `close`.
   */
  async nextTurn(): Promise<() => void> {
    if (this.#isClosed) throw storeClosed()
    return new Promise((resolve) => {
      void this.#turns.run(() => new Promise<void>((endTurn) => resolve(endTurn)))
    })
  }

  /** Runs statements on the writing connection. */
  write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    return this.#channel.write(statements)
  }

  /** Waits for open transactions and closes the connection. Later turns throw `UNAVAILABLE`. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#turns.run(() => this.#channel.close())
  }
}

/** A transaction of a worker, which is open or waits for its turn. */
export class HeldTransaction {
  readonly #writer: SharedWriter
  /**
   * The time, in milliseconds, after which an open transaction without further statements is rolled
   * back.
   */
  readonly #silenceMs: number
  readonly #turn: Promise<() => void>
  #timer: ReturnType<typeof setTimeout> | undefined
  #lost: FlagError | undefined
  #isOver = false

  constructor(writer: SharedWriter, silenceMs: number) {
    this.#writer = writer
    this.#silenceMs = silenceMs
    this.#turn = writer.nextTurn()
  }

  /**
   * Runs statements of the transaction, after waiting for its turn. The first call begins the
   * transaction. A commit or rollback as the last statement ends it.
   */
  async write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    const endTurn = await this.#turn
    if (this.#lost !== undefined) throw this.#lost
    if (this.#isOver) throw transactionEnded()
    clearTimeout(this.#timer)
    const last = statements.at(-1)?.sql
    let isLast = last === ROLLBACK
    try {
      const rows = await this.#writer.write(statements)
      // A failed commit does not end the turn, because the worker then sends a rollback.
      isLast ||= last === COMMIT
      return rows
    } finally {
      if (isLast) this.#end(endTurn)
      else this.#awaitNext()
    }
  }

  /** Rolls the transaction back on its turn. Its later statements throw `reason`. */
  async lose(reason: FlagError): Promise<void> {
    if (this.#isOver) return
    this.#lost ??= reason
    const endTurn = await this.#turn
    if (this.#isOver) return
    // An error can be ignored, because SQLite saves nothing without a commit.
    await this.#writer.write([plain(ROLLBACK)]).catch(() => undefined)
    this.#end(endTurn)
  }

  #end(endTurn: () => void): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    endTurn()
  }

  #awaitNext(): void {
    if (this.#isOver || this.#lost !== undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.lose(silent()), this.#silenceMs)
  }
}

function silent(): FlagError {
  return new FlagError('UNAVAILABLE', 'The transaction was rolled back: its process timed out.')
}
