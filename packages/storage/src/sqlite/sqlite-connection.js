// @ts-check
// Plain JavaScript, because the worker thread imports this file without compilation.

/**
 * @typedef {import('../sql/sql-driver.ts').SqlRow} SqlRow
 * @typedef {import('../sql/sql-driver.ts').SqlStatement} SqlStatement
 * @typedef {import('./sqlite-database.ts').SqliteDatabase & { close(): void }} OwnDatabase
 * @typedef {import('./sqlite-database.ts').SqliteStatement} SqliteStatement
 */

/** The time, in milliseconds, for which a connection waits for the lock of another connection. */
export const BUSY_TIMEOUT_MS = 5000
/** The maximum number of cached prepared statements. */
const MAX_PREPARED = 500

/** The statement that begins a transaction. */
export const BEGIN = 'begin immediate'
/** The statement that commits a transaction. */
export const COMMIT = 'commit'
/** The statement that rolls a transaction back. */
export const ROLLBACK = 'rollback'

/**
 * Parts of SQLite's messages for statements with rejected values. SQLite undoes such a statement,
 * but not its transaction.
 */
const REFUSALS = ['constraint failed', 'datatype mismatch', 'string or blob too big']

/**
 * Returns `true` if the message means that SQLite rejected the values of a statement.
 *
 * @param {string} message
 */
export function isRefusalOfValues(message) {
  return REFUSALS.some((words) => message.includes(words))
}

/**
 * Returns the message of a thrown value, which can have any type.
 *
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/** A connection to a database in the calling thread, with a cache of prepared statements. */
export class SqliteConnection {
  /** @type {Map<string, SqliteStatement>} */
  #prepared = new Map()
  #database
  /**
   * The error after which the open transaction cannot continue.
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
   * Runs statements of a transaction. The first statement of the transaction is `BEGIN`. After an
   * error other than rejected values, throws the same error for the rest of the transaction: SQLite
   * may have rolled the transaction back, so that each later statement would commit separately.
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
   * Runs statements for reading. All of them see the same committed state.
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

  /** Closes the database. */
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
