import { MIGRATION_LOCK } from '../sql/migrate.ts'
import type { StoredTables } from '../sql/stored-tables.ts'
import { hasTables } from '../sql/table-shapes.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { PostgresDriver } from './postgres-driver.ts'
import { type PostgresOptions, postgresSettings } from './postgres-settings.ts'
import { placeOf } from './postgres-url.ts'

/**
 * Returns the tables of a PostgreSQL database, for a backup, a restore or a copy. Each call opens one
 * connection, and closes it at the end. Throws `INVALID_REQUEST` if an option is invalid.
 *
 * @example
 * await writeBackup(postgresTables({ url: 'postgres://ff@localhost/flags' }), 'flags.backup')
 */
export function postgresTables(
  options: Pick<PostgresOptions, 'url' | 'connectTimeoutMs'>,
): StoredTables {
  const settings = postgresSettings({ ...options, readConnections: 1, writeConnections: 1 })
  const withDriver = async <T>(work: (driver: PostgresDriver) => Promise<T>): Promise<T> => {
    const driver = new PostgresDriver(settings)
    try {
      return await work(driver)
    } finally {
      await driver.close()
    }
  }
  const dialect = postgresDialect
  return {
    place: placeOf('url', settings.url),
    dialect,
    exists: () => withDriver(({ reader }) => hasTables({ connection: reader, dialect })),
    read: (work) => withDriver((driver) => driver.runOnce(work)),
    create: (work) =>
      withDriver(async (driver) => {
        await driver.assertEncoding()
        return driver.runOnce(work, { lock: MIGRATION_LOCK })
      }),
  }
}
