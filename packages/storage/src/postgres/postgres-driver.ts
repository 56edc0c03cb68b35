import { setTimeout as delay } from 'node:timers/promises'
import { FlagError } from '@ff/core'
import { isReadOnly, storeClosed } from '../ports/record-errors.ts'
import { LockQueues } from '../runtime/lock-queues.ts'
import {
  plain,
  type SqlConnection,
  type SqlDriver,
  type SqlRow,
  type SqlStatement,
  type SqlTransaction,
  type SqlTransactionOptions,
} from '../sql/sql-driver.ts'
import { PostgresPool } from './postgres-pool.ts'
import { MOST_MS, type PostgresSettings } from './postgres-settings.ts'
import { PostgresTransaction } from './postgres-transaction.ts'
import { addressOf, placeOf } from './postgres-url.ts'
import { PostgresWatch } from './postgres-watch.ts'

/** The maximum number of times that the work of a transaction runs. */
const MOST_ATTEMPTS = 5
/** The maximum delay before the second attempt. It doubles with each further attempt. */
const RETRY_DELAY_MS = 20

/** The modes of a transaction in which all reads see one state. */
const SNAPSHOT = 'isolation level repeatable read, read only'
/** Not `read write`, which would override the setting `default_transaction_read_only`. */
const WRITING = 'isolation level read committed'

/** Removes a time limit that PostgreSQL 17 and newer have. */
const NO_TRANSACTION_TIMEOUT = `select set_config('transaction_timeout', '0', true) where current_setting('server_version_num')::int >= 170000`

/** The minimum time between two renewals of all connections while the database refuses changes. */
const RENEW_EVERY_MS = 1000

type Work<T> = (connection: SqlTransaction) => Promise<T>

/** An attempt to run the work of a transaction. */
interface Attempt {
  readonly begin: readonly SqlStatement[]
  readonly isCareful: boolean
  readonly timeoutMs: number | undefined
  /** The outages of the server before the operation began. */
  readonly outages: number
}

/** What an attempt has led to: a result, or an error and how the work can run again. */
type Outcome<T> =
  | { readonly result: T }
  | { readonly error: unknown; readonly restart: PostgresTransaction['restart'] }

/**
 * A driver for PostgreSQL. It keeps no state in database sessions, so that a connection pooler can
 * assign another session to each transaction.
 */
export class PostgresDriver implements SqlDriver {
  readonly reader: SqlConnection
  readonly #settings: PostgresSettings
  readonly #readers: PostgresPool
  readonly #writers: PostgresPool
  readonly #watch: PostgresWatch
  /** Transactions that wait for the lock of another transaction of this process. */
  readonly #queues = new LockQueues()
  readonly #running = new Set<Promise<unknown>>()
  /** `true` if the last change was refused, because the database accepts none. */
  #isReadOnly = false
  #renewedAt = Number.NEGATIVE_INFINITY
  #closing: Promise<void> | undefined

  constructor(settings: PostgresSettings) {
    this.#settings = settings
    this.#readers = new PostgresPool(settings, 'readConnections')
    this.#writers = new PostgresPool(settings, 'writeConnections')
    PostgresPool.share(this.#readers, this.#writers)
    this.#watch = new PostgresWatch({
      address: addressOf(settings.url),
      place: placeOf('url', settings.url),
      disconnect: () => {
        this.#readers.disconnect()
        this.#writers.disconnect()
      },
    })
    const begin = this.#begin(SNAPSHOT)
    this.reader = {
      run: (statements) => this.#track(() => this.#readers.runAll(begin, statements)),
    }
  }

  /** Sets the function that closes a connection of the process that the pools can use instead. */
  spareWith(spare: () => Promise<boolean>): void {
    this.#readers.spareWith(spare)
    this.#writers.spareWith(spare)
  }

  async transaction<T>(
    lock: string,
    work: Work<T>,
    { isUnlimited = false }: SqlTransactionOptions = {},
  ): Promise<T> {
    const begin = [plain(this.#begin(WRITING, isUnlimited)), lockStatement(lock)]
    const timeoutMs = isUnlimited ? MOST_MS : undefined
    const attempt = { begin, isCareful: false, timeoutMs, outages: this.#watch.outages }
    return this.#change(() => this.#queues.run(lock, () => this.#transact(work, attempt)))
  }

  /** The time limits of statements are those of the database. */
  async runAlone(statement: SqlStatement): Promise<readonly SqlRow[]> {
    return this.#change(() => this.#writers.runAlone(statement))
  }

  /**
   * Runs `work` once, in a transaction without time limits in the database, and returns its result.
   * Without a lock, the transaction only reads, and all its reads see one state.
   */
  async runOnce<T>(work: Work<T>, { lock }: { readonly lock?: string } = {}): Promise<T> {
    const begin =
      lock === undefined
        ? [plain(this.#begin(SNAPSHOT, true))]
        : [plain(this.#begin(WRITING, true)), lockStatement(lock)]
    return this.#track(async () => {
      const { outages } = this.#watch
      const attempt = { begin, isCareful: false, timeoutMs: MOST_MS, outages }
      const outcome = await this.#attempt(work, attempt)
      if ('result' in outcome) return outcome.result
      throw outcome.error
    })
  }

  /** Throws `UNAVAILABLE` if the encoding of the database is not UTF8. */
  async assertEncoding(): Promise<void> {
    const [rows] = await this.reader.run([
      plain(`select current_setting('server_encoding') as encoding`),
    ])
    const encoding = rows?.[0]?.encoding
    if (encoding === 'UTF8') return
    const place = placeOf('url', this.#settings.url)
    const message = `\`url\`: The database of ${place} must have the encoding UTF8 (got ${encoding}).`
    throw new FlagError('UNAVAILABLE', message)
  }

  /** Runs statements that need no lock in a transaction, and returns the rows of each. */
  async write(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    const begin = this.#begin(WRITING)
    return this.#change(() => this.#writers.runAll(begin, statements))
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#running)
    this.#watch.stop()
    await Promise.all([this.#readers.close(), this.#writers.close()])
  }

  /** Runs an operation that `close` waits for. Throws `UNAVAILABLE` if the store is closed. */
  async #track<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw storeClosed()
    return this.#watch.during(async () => {
      const running = operation()
      this.#running.add(running)
      try {
        return await running
      } finally {
        this.#running.delete(running)
      }
    })
  }

  /**
   * Runs an operation that changes the database. When the database begins or ceases to refuse
   * changes, another server can have become the primary. Therefore all connections are renewed.
   */
  async #change<T>(operation: () => Promise<T>): Promise<T> {
    try {
      const result = await this.#track(operation)
      if (this.#isReadOnly) this.#renew()
      this.#isReadOnly = false
      return result
    } catch (error) {
      if (isReadOnly(error)) {
        const isDue = performance.now() - this.#renewedAt >= RENEW_EVERY_MS
        if (isDue || !this.#isReadOnly) this.#renew()
        // Another session to the same server would be refused, too.
        this.#writers.renew()
        this.#isReadOnly = true
      }
      throw error
    }
  }

  #renew(): void {
    this.#renewedAt = performance.now()
    this.#readers.renew()
    this.#writers.renew()
  }

  async #transact<T>(work: Work<T>, first: Attempt): Promise<T> {
    let attempt = first
    for (let count = 1; ; count += 1) {
      const outcome = await this.#attempt(work, attempt)
      if ('result' in outcome) return outcome.result
      if (outcome.restart === undefined || count === MOST_ATTEMPTS) throw outcome.error
      if (outcome.restart === 'careful') attempt = { ...attempt, isCareful: true }
      else await delay(Math.random() * RETRY_DELAY_MS * 2 ** (count - 1))
    }
  }

  async #attempt<T>(work: Work<T>, attempt: Attempt): Promise<Outcome<T>> {
    const client = await this.#writers.connect()
    if (this.#watch.outages !== attempt.outages) {
      this.#writers.release(client)
      throw storeSilent()
    }
    const transaction = new PostgresTransaction({ ...attempt, client })
    try {
      const result = await work(transaction)
      await transaction.commit()
      this.#writers.release(client)
      return { result }
    } catch (error) {
      this.#writers.release(client, await transaction.rollback())
      return { error, restart: transaction.restart }
    }
  }

  /** Returns the text that begins a transaction with these modes and the time limits. */
  #begin(modes: string, isUnlimited = false): string {
    const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs } = this.#settings
    const limits = [
      ['statement_timeout', statementTimeoutMs],
      ['lock_timeout', lockTimeoutMs],
      ['idle_in_transaction_session_timeout', idleTimeoutMs],
    ] as const
    const texts = limits.map(([name, limit]) => `set local ${name} = ${isUnlimited ? 0 : limit}`)
    return [`begin ${modes}`, ...texts, NO_TRANSACTION_TIMEOUT].join('; ')
  }
}

/** The error of an operation that has already failed for its caller. */
function storeSilent(): FlagError {
  return new FlagError('UNAVAILABLE', 'The store did not respond.')
}

function lockStatement(lock: string): SqlStatement {
  return { sql: 'select pg_advisory_xact_lock(hashtextextended($1, 0))', parameters: [lock] }
}
