import type { Capabilities } from '@ff/storage'
import type { StoredTables } from '@ff/storage/backup'
import { cluster, serveCluster } from '@ff/storage/cluster'
import { postgres, postgresTables } from '@ff/storage/postgres'
import { sqlite, sqliteTables } from '@ff/storage/sqlite'
import { ConfigError } from './config/config-error.ts'
import type { DatabaseConfig } from './config/database-config.ts'
import type { Config, LogConfig } from './config.ts'
import { dataFileOf } from './data-folder/data-folder.ts'
import { warnOfWidePermissions } from './data-folder/file-permissions.ts'
import { withVariables } from './failure.ts'
import { createLogger } from './log.ts'

/** The ports of a store. */
export type Store = Capabilities & Required<Pick<Capabilities, 'storage'>>

/** The settings that determine the store: a PostgreSQL database, or a file in the data folder. */
export type StoreConfig = Pick<Config, 'dataDir'> & Partial<Pick<Config, 'database' | 'redisUrl'>>

/** The settings of a store that is opened. Without `log`, its warnings are not logged. */
type OpenedConfig = StoreConfig & Partial<Pick<Config, 'log'>>

/** The maximum number of connections for reading, and of those for writing, of one process. */
const MOST_CONNECTIONS = 10

/** Returns the name of the store for operators. It contains no password. */
export function placeOf(config: StoreConfig): string {
  if (config.database === undefined) return config.dataDir
  return `PostgreSQL at ${tablesOf(config).place}`
}

/** Returns the tables of the store. */
export function tablesOf({ dataDir, database }: StoreConfig): StoredTables {
  if (database !== undefined) return postgresTables({ url: database.url })
  return sqliteTables({ path: dataFileOf({ dataDir }) })
}

/** Returns the tables of an existing store. Throws `ConfigError` if there is none. */
export async function existingTables(config: StoreConfig): Promise<StoredTables> {
  const tables = tablesOf(config)
  if (await tables.exists()) return tables
  throw new ConfigError(
    config.database === undefined
      ? `The data file ${tables.place} does not exist. Check FF_DATA_DIR.`
      : `The database of ${tables.place} contains no store. Check DATABASE_URL.`,
  )
}

/** Opens the store for a process that serves alone, or for a short task. */
export function openStore({ dataDir, database, redisUrl, log }: OpenedConfig): Store {
  if (database === undefined) return sqlite({ path: dataFileOf({ dataDir }) })
  return openPostgres({ database, redisUrl, log }, 1)
}

/** Opens the store for one of several worker processes. */
export function openWorkerStore({ dataDir, database, redisUrl, workers, log }: Config): Store {
  if (database === undefined) return cluster({ path: dataFileOf({ dataDir }) })
  return openPostgres({ database, redisUrl, log }, workers)
}

interface PostgresConfig {
  readonly database: DatabaseConfig
  readonly redisUrl: string | undefined
  readonly log: LogConfig | undefined
}

/** Opens the database. With Redis, which announces changes, no connection listens for them. */
function openPostgres({ database, redisUrl, log }: PostgresConfig, processes: number): Store {
  const { url, listenUrl = url } = database
  const options = { url, ...connectionsOf(database, processes) }
  const logger = log && createLogger(log)
  return postgres({
    ...options,
    listenUrl: redisUrl === undefined && listenUrl,
    onWarning: (message) => logger?.warn(withVariables(message)),
  })
}

/** Starts what the workers share. With PostgreSQL, they share the database only. */
export function serveWorkers({ dataDir, database }: StoreConfig): { close(): Promise<void> } {
  if (database === undefined) return serveCluster({ path: dataFileOf({ dataDir }) })
  return { close: async () => undefined }
}

/** Logs a warning if other users of the machine can open the files of the store. */
export function warnOfOtherUsers({ dataDir, database, log }: Config): void {
  if (database === undefined) warnOfWidePermissions(dataFileOf({ dataDir }), createLogger(log))
}

/**
 * Returns the maximum numbers of connections of each process: one listens for changes, and the others
 * read or write.
 */
export function connectionsOf(
  { connections }: Pick<DatabaseConfig, 'connections'>,
  processes: number,
): { readonly readConnections: number; readonly writeConnections: number } {
  const each = Math.floor(connections / processes) - 1
  const writeConnections = Math.min(MOST_CONNECTIONS, Math.floor(each / 2))
  return { writeConnections, readConnections: Math.min(MOST_CONNECTIONS, each - writeConnections) }
}
