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
   * Waits until no other transaction is open. Returns a function that permits the next transaction.
   * Throws `UNAVAILABLE` after `close`.
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

  /**
   * Waits for open transactions and closes the connection. Later calls of `nextTurn` throw
   * `UNAVAILABLE`.
   */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#turns.run(() => this.#channel.close())
  }
}

/** A transaction of a worker. It is open, or waits until earlier transactions have ended. */
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
   * Runs statements of the transaction, after waiting until earlier transactions have ended. The
   * first statement must begin the transaction. A rollback or a successful commit as the last
   * statement ends the transaction. Throws the `reason` of `lose` if `lose` was called before, and
   * `INTERNAL` if the transaction has ended.
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

  /**
   * Waits until earlier transactions have ended, and rolls the transaction back. Later calls of
   * `write` throw `reason`. Has no effect if the transaction has ended.
   */
  async lose(reason: FlagError): Promise<void> {
    if (this.#isOver) return
    this.#lost ??= reason
    const endTurn = await this.#turn
    if (this.#isOver) return
    // A failed rollback can be ignored, because SQLite saves nothing without a commit.
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
  return new FlagError('UNAVAILABLE', 'The transaction timed out: its worker sent no statement.')
}
