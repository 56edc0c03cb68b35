import type { Capabilities } from '../ports/capabilities.ts'
import { sqliteDialect } from '../sql/dialect.ts'
import { createSqlStorage } from '../sql/sql-storage.ts'
import { openDataFile } from './data-file.ts'
import { InlineChannel } from './inline-channel.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { SqliteDriver } from './sqlite-driver.ts'

export type { SqliteDatabase, SqliteStatement } from './sqlite-database.ts'

/** The database of a store. */
export type SqliteOptions =
  | {
      /** The data file, which is created, with its folder, when missing; or `:memory:`. */
      readonly path: string
    }
  | {
      /** A database that the host opened, and closes after the store is closed. */
      readonly database: SqliteDatabase
    }

/**
 * Records and publications in one SQLite file.
 *
 * With `path` the database lives in a worker thread of its own, so that waiting for the disk stops
 * nothing else; the file is opened by the first call, which for a file that cannot be used throws
 * `UNAVAILABLE`. The thread does not keep the process alive while nothing is asked of it.
 *
 * With `database` every statement runs in the calling thread, which is meant for light use: tests,
 * scripts, small tools. Its connection must not be used for anything else while a call is pending.
 *
 * @example
 * createFlagServer({ ...sqlite({ path: './data/flags.db' }) })
 */
export function sqlite(options: SqliteOptions): Required<Pick<Capabilities, 'storage'>> {
  const isInline = 'database' in options
  const channel = isInline ? new InlineChannel(options.database) : openDataFile(options.path)
  return { storage: createSqlStorage(new SqliteDriver(channel), sqliteDialect) }
}
