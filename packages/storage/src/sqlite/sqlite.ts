import type { Capabilities } from '../ports/capabilities.ts'
import { sqliteDialect } from '../sql/dialect.ts'
import { createSqlStorage } from '../sql/sql-storage.ts'
import { openDataFile } from './data-file.ts'
import { InlineChannel } from './inline-channel.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { SqliteDriver } from './sqlite-driver.ts'

export type { StoredTables } from '../sql/stored-tables.ts'
export type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'
export { sqliteTables } from './sqlite-tables.ts'

/** The database of a store. */
export type SqliteOptions =
  | {
      /** The path of the data file, or `:memory:`. A missing file or folder is created. */
      readonly path: string
    }
  | {
      /** An open database, which the host closes after it has closed the store. */
      readonly database: SqliteDatabase
    }

/**
 * Creates a store in one SQLite database.
 *
 * With `path`, the database runs in a separate worker thread, so that disk access does not block
 * the calling thread. The first call opens the file, and throws `UNAVAILABLE` if that fails. The
 * worker thread keeps the process alive only while calls are pending.
 *
 * With `database`, every statement runs in the calling thread. This is intended for light use, such
 * as tests, scripts and small tools. The host must not use the connection while a call is pending.
 *
 * @example
 * createFlagServer({ ...sqlite({ path: './data/flags.db' }) })
 */
export function sqlite(options: SqliteOptions): Required<Pick<Capabilities, 'storage'>> {
  const isInline = 'database' in options
  const channel = isInline ? new InlineChannel(options.database) : openDataFile(options.path)
  return { storage: createSqlStorage(new SqliteDriver(channel), sqliteDialect) }
}
