import type { PoolClient } from 'pg'
import { isRefusal, keyTaken, transactionEnded } from '../ports/record-errors.ts'
import { plain, type SqlRow, type SqlStatement, type SqlTransaction } from '../sql/sql-driver.ts'
import { endsConnection, fromPostgresError, isSerializationFailure } from './postgres-errors.ts'
import { assertStorable, type PostgresResult, resultsOf, send } from './postgres-statements.ts'

const SAVEPOINT = plain('savepoint ff_call')
const RELEASE = plain('release savepoint ff_call')
const UNDO = [plain('rollback to savepoint ff_call'), RELEASE]

/** The parts of a transaction that its driver determines. */
export interface PostgresTransactionOptions {
  readonly client: PoolClient
  /** The statements that begin the transaction and take its lock. */
  readonly begin: readonly SqlStatement[]
  /** `true` if every call has a savepoint, so that PostgreSQL can refuse any value. */
  readonly isCareful: boolean
  /** The maximum time of a response; `undefined` for the time limit of the connection. */
  readonly timeoutMs: number | undefined
}

/**
 * A transaction. The statements that begin it are sent with the first statements, and deferred
 * statements with the next statements or with the commit. Calls do not wait for the results of
 * earlier calls, except of those with a savepoint.
 *
 * An error ends the transaction in PostgreSQL. Therefore a call that can be refused is enclosed in
 * a savepoint. If PostgreSQL refuses another call, `restart` is `careful`.
 */
export class PostgresTransaction implements SqlTransaction {
  readonly #options: PostgresTransactionOptions
  #deferred: SqlStatement[] = []
  /** Settles when calls can be sent. */
  #gate: Promise<unknown> = Promise.resolve()
  #hasBegun = false
  #hasEnded = false
  /**
   * The first error of a statement. After it, PostgreSQL refuses all other statements, so that
   * their errors do not matter.
   */
  #firstError: unknown
  #failure: unknown
  #isConnected = true

  constructor(options: PostgresTransactionOptions) {
    this.#options = options
  }

  /**
   * How the work of a failed transaction can run again: in an equal transaction, or in a careful
   * one. `undefined` if running it again is of no use.
   */
  get restart(): 'equal' | 'careful' | undefined {
    if (isSerializationFailure(this.#firstError)) return 'equal'
    return isRefusal(this.#failure) && !this.#options.isCareful ? 'careful' : undefined
  }

  async run(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]> {
    this.#refuseIfOver()
    for (const statement of statements) assertStorable(statement)
    const isAlone = this.#options.isCareful || statements.some(({ refusal }) => refusal === 'fails')
    const outcome = this.#gate.then(() =>
      isAlone ? this.#runAlone(statements) : this.#run(statements),
    )
    if (isAlone) this.#gate = outcome.catch(() => undefined)
    const results = await outcome
    const isSkipped = ({ refusal }: SqlStatement, index: number) =>
      refusal === 'skips' && results[index]?.rowCount === 0
    if (statements.some(isSkipped)) throw keyTaken()
    return results.map(({ rows }) => rows)
  }

  defer(statements: readonly SqlStatement[]): void {
    if (this.#hasEnded) throw transactionEnded()
    for (const statement of statements) assertStorable(statement)
    this.#deferred.push(...statements)
  }

  /** Commits the transaction. Throws if it is unusable because of an earlier error. */
  async commit(): Promise<void> {
    this.#refuseIfOver()
    this.#hasEnded = true
    await this.#gate
    if (this.#failure !== undefined) throw this.#failure
    if (!this.#hasBegun && this.#deferred.length === 0) return
    const [result] = await this.#run([plain('commit')])
    // PostgreSQL answers a commit of a failed transaction with a rollback, which is no error.
    if (result?.command !== 'COMMIT') {
      throw this.#fail(new Error('PostgreSQL has rolled the transaction back.'))
    }
  }

  /** Rolls the transaction back. Returns `false` if the connection cannot be used again. */
  async rollback(): Promise<boolean> {
    this.#hasEnded = true
    await this.#gate
    if (this.#hasBegun && this.#isConnected) {
      await resultsOf(this.#send([plain('rollback')])).catch((error) => this.#fail(error))
    }
    return this.#isConnected
  }

  /** Runs statements. After any error, the transaction is unusable. */
  async #run(statements: readonly SqlStatement[]): Promise<readonly PostgresResult[]> {
    const { before, results } = this.#sendAll(statements)
    try {
      await resultsOf(before)
      return await resultsOf(results)
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** Runs statements within a savepoint, so that the transaction remains usable after a refusal. */
  async #runAlone(statements: readonly SqlStatement[]): Promise<readonly PostgresResult[]> {
    const { before, results } = this.#sendAll([SAVEPOINT, ...statements, RELEASE])
    try {
      await resultsOf(before)
    } catch (error) {
      throw this.#fail(error)
    }
    try {
      return (await resultsOf(results)).slice(1, -1)
    } catch (error) {
      const refusal = fromPostgresError(error)
      if (this.#firstError !== error || !isRefusal(refusal)) throw this.#fail(error)
      await this.#undo()
      throw refusal
    }
  }

  async #undo(): Promise<void> {
    this.#firstError = undefined
    try {
      await resultsOf(this.#send(UNDO))
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** Sends statements after those that begin the transaction and those that were deferred. */
  #sendAll(statements: readonly SqlStatement[]) {
    if (this.#failure !== undefined) throw this.#failure
    const begin = this.#hasBegun ? [] : this.#options.begin
    const deferred = this.#deferred
    this.#hasBegun = true
    this.#deferred = []
    return { before: this.#send([...begin, ...deferred]), results: this.#send(statements) }
  }

  #send(statements: readonly SqlStatement[]): readonly Promise<PostgresResult>[] {
    const sent = send(this.#options.client, statements, this.#options.timeoutMs)
    for (const each of sent) {
      each.catch((error) => {
        this.#firstError ??= error
        this.#isConnected &&= !endsConnection(error)
      })
    }
    return sent
  }

  /** Makes the transaction unusable, and returns the error that has caused this. */
  #fail(error: unknown): unknown {
    this.#failure ??= fromPostgresError(this.#firstError ?? error)
    return this.#failure
  }

  #refuseIfOver(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#hasEnded) throw transactionEnded()
  }
}
