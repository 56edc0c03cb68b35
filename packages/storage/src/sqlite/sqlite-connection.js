// @ts-check
// Plain JavaScript, because the thread of a data file imports it as it is.

/**
 * @typedef {import('../sql/sql-driver.ts').SqlRow} SqlRow
 * @typedef {import('../sql/sql-driver.ts').SqlStatement} SqlStatement
 * @typedef {import('./sqlite-database.ts').SqliteDatabase & { close(): void }} OwnDatabase
 * @typedef {import('./sqlite-database.ts').SqliteStatement} SqliteStatement
 */

/** How long a connection waits for the lock of another. */
export const BUSY_TIMEOUT_MS = 5000
const MAX_PREPARED = 500

/** The statements that begin and end a transaction. */
export const BEGIN = 'begin immediate'
export const COMMIT = 'commit'
export const ROLLBACK = 'rollback'

/** Messages of SQLite when it refuses a statement for its values, and undoes only that statement. */
const REFUSALS = ['constraint failed', 'datatype mismatch', 'string or blob too big']

/**
 * Whether SQLite refused a statement for its values.
 *
 * @param {string} message
 */
export function isRefusalOfValues(message) {
  return REFUSALS.some((words) => message.includes(words))
}

/**
 * The message of what was thrown, which need not be an error.
 *
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/** A connection to a database in the calling thread, and the statements prepared on it. */
export class SqliteConnection {
  /** @type {Map<string, SqliteStatement>} */
  #prepared = new Map()
  #database
  /**
   * The failure of the open transaction.
   * @type {unknown}
   */
  #failure

  /** @param {OwnDatabase} database */
  constructor(database) {
    this.#database = database
  }

  /**
   * Runs one statement and returns its rows.
   *
   * @param {string} sql
   * @param {SqlStatement['parameters']} parameters
   * @returns {SqlRow[]}
   */
  execute(sql, parameters = []) {
    const statement = this.#prepare(sql)
    if (statement.reader !== false) return /** @type {SqlRow[]} */ (statement.all(...parameters))
    statement.run(...parameters)
    return []
  }

  /**
   * Runs statements of a transaction, one of which begins it. After a failure other than a refusal
   * of its values, the rest of the transaction is refused: SQLite may have rolled it back, and a
   * later statement would be kept by itself.
   *
   * @param {readonly SqlStatement[]} statements
   */
  write(statements) {
    const first = statements[0]?.sql
    if (first === BEGIN || first === ROLLBACK) this.#failure = undefined
    if (this.#failure !== undefined) throw this.#failure
    try {
      return this.#executeAll(statements)
    } catch (error) {
      if (!isRefusalOfValues(messageOf(error))) this.#failure = error
      throw error
    }
  }

  /**
   * Runs statements on one committed state.
   *
   * @param {readonly SqlStatement[]} statements
   */
  read(statements) {
    if (statements.length === 1) return this.#executeAll(statements)
    this.execute('begin')
    try {
      return this.#executeAll(statements)
    } finally {
      this.execute('rollback')
    }
  }

  /** @param {readonly SqlStatement[]} statements */
  #executeAll(statements) {
    return statements.map(({ sql, parameters }) => this.execute(sql, parameters))
  }

  close() {
    this.#prepared.clear()
    this.#database.close()
  }

  /** @param {string} sql */
  #prepare(sql) {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear()
    this.#prepared.set(sql, statement)
    return statement
  }
}
