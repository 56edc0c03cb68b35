import type { SqlStatement } from '../sql/sql-driver.ts'
import { BUSY_TIMEOUT_MS, messageOf, SqliteConnection } from './sqlite-connection.js'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { SqliteChannel, SqlRows } from './sqlite-driver.ts'
import { fromSqliteFailure } from './sqlite-errors.ts'

const SETTINGS = [
  `pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
  'pragma journal_mode = wal',
  'pragma synchronous = full',
]

/**
 * A channel to a database that the host has opened. Statements run in the calling thread and block
 * it.
 */
export class InlineChannel implements SqliteChannel {
  readonly hasReader = false
  readonly isShared = false
  readonly #connection: SqliteConnection
  #isSet = false

  constructor(database: SqliteDatabase) {
    // The host has opened the database and closes it.
    const close = () => undefined
    this.#connection = new SqliteConnection({ prepare: (sql) => database.prepare(sql), close })
  }

  async write(statements: readonly SqlStatement[]): Promise<SqlRows> {
    return this.#run(() => this.#connection.write(statements))
  }

  async read(statements: readonly SqlStatement[]): Promise<SqlRows> {
    return this.#run(() => this.#connection.read(statements))
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  #run(work: () => SqlRows): SqlRows {
    try {
      if (!this.#isSet) for (const setting of SETTINGS) this.#connection.execute(setting)
      this.#isSet = true
      return work()
    } catch (error) {
      throw fromSqliteFailure(messageOf(error))
    }
  }
}
