import { isRefusal } from '../ports/record-errors.ts'
import type { SqlRow, SqlStatement, SqlValue } from '../sql/sql-driver.ts'
import { isFresh, type SqliteChannel, type SqlRows } from './sqlite-channel.ts'
import { fromSqliteFailure } from './sqlite-errors.ts'

/** What a host's database must be able to do: `node:sqlite` and better-sqlite3 both can. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
}

export interface SqliteStatement {
  /** better-sqlite3 refuses `all` on a statement that answers no rows, and says so here. */
  readonly reader?: boolean
  all(...parameters: SqlValue[]): unknown[]
  run(...parameters: SqlValue[]): unknown
}

const SETTINGS = [
  'pragma busy_timeout = 5000',
  'pragma journal_mode = wal',
  'pragma synchronous = full',
]

const MAX_PREPARED = 500

/** A database in the calling thread, which stands still while a statement runs. */
export class InlineChannel implements SqliteChannel {
  readonly hasReader = false
  readonly #database: SqliteDatabase
  readonly #prepared = new Map<string, SqliteStatement>()
  #isSet = false
  /** What the open transaction met. */
  #failure: unknown

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  async write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    if (isFresh(statements)) this.#failure = undefined
    if (this.#failure !== undefined) throw this.#failure
    try {
      return this.#executeAll(statements)
    } catch (error) {
      if (!isRefusal(error)) this.#failure = error
      throw error
    }
  }

  async read(statements: readonly SqlStatement[]): Promise<SqlRows> {
    if (statements.length === 1) return this.#executeAll(statements)
    this.#executeAll([{ sql: 'begin', parameters: [] }])
    try {
      return this.#executeAll(statements)
    } finally {
      this.#executeAll([{ sql: 'rollback', parameters: [] }])
    }
  }

  /** The host opened the database, and closes it. */
  async close(): Promise<void> {
    this.#prepared.clear()
  }

  #executeAll(statements: readonly SqlStatement[]): SqlRows {
    try {
      this.#applySettings()
      return statements.map(({ sql, parameters }) => this.#execute(sql, parameters))
    } catch (error) {
      throw fromSqliteFailure(error instanceof Error ? error : { message: String(error) })
    }
  }

  #applySettings(): void {
    if (this.#isSet) return
    for (const setting of SETTINGS) this.#execute(setting, [])
    this.#isSet = true
  }

  #execute(sql: string, parameters: readonly SqlValue[]): readonly SqlRow[] {
    const statement = this.#prepare(sql)
    if (statement.reader !== false) return statement.all(...parameters) as SqlRow[]
    statement.run(...parameters)
    return []
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear()
    this.#prepared.set(sql, statement)
    return statement
  }
}
