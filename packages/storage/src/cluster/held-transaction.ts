import { FlagError } from '@ff/core'
import type { SqlConnection, SqlDriver, SqlStatement, SqlTransaction } from '../sql/sql-driver.ts'

interface HeldTransactionOptions {
  readonly driver: SqlDriver
  readonly lock: string
  /** The time without a statement after which the transaction is rolled back. */
  readonly silenceMs: number
}

interface Statements {
  /** The deferred statements, which run first. */
  readonly deferred: readonly SqlStatement[]
  readonly statements: readonly SqlStatement[]
}

/** A transaction that is open, or waits its turn, on behalf of another process. */
export class HeldTransaction {
  readonly #silenceMs: number
  readonly #begun: Promise<SqlTransaction>
  readonly #ended: Promise<void>
  #keep: () => void = () => undefined
  #undo: (reason: FlagError) => void = () => undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isDecided = false

  constructor({ driver, lock, silenceMs }: HeldTransactionOptions) {
    this.#silenceMs = silenceMs
    const decided = new Promise<void>((resolve, reject) => {
      this.#keep = resolve
      this.#undo = reject
    })
    // A decision before the transaction has begun has no listener yet.
    decided.catch(() => undefined)
    let begin: (connection: SqlTransaction) => void = () => undefined
    const begun = new Promise<SqlTransaction>((resolve) => {
      begin = resolve
    })
    this.#ended = driver.transaction(lock, (connection) => {
      begin(connection)
      return decided
    })
    this.#begun = Promise.race([begun, this.#ended.then(() => begun)])
  }

  /** Resolves once it is its turn. */
  async begin(): Promise<void> {
    await this.#begun
    this.#listen()
  }

  async run({ deferred, statements }: Statements): ReturnType<SqlConnection['run']> {
    if (this.#isDecided) await this.#ended
    const connection = await this.#begun
    clearTimeout(this.#timer)
    try {
      connection.defer(deferred)
      return await connection.run(statements)
    } finally {
      this.#listen()
    }
  }

  /** Runs the deferred statements and commits. Throws if the commit fails. */
  async keep(deferred: readonly SqlStatement[]): Promise<void> {
    if (!this.#isDecided) (await this.#begun).defer(deferred)
    this.#decide(() => this.#keep())
    return this.#ended
  }

  /** Resolves once it is rolled back, which is at once or when it is its turn. */
  undo(reason: FlagError): Promise<void> {
    this.#decide(() => this.#undo(reason))
    return this.#ended.catch(() => undefined)
  }

  #decide(decision: () => void): void {
    this.#isDecided = true
    clearTimeout(this.#timer)
    decision()
  }

  #listen(): void {
    clearTimeout(this.#timer)
    if (!this.#isDecided) this.#timer = setTimeout(() => this.undo(silent()), this.#silenceMs)
  }
}

function silent(): FlagError {
  return new FlagError('UNAVAILABLE', 'The transaction was rolled back: its process was silent.')
}
