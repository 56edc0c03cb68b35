import type { Ports } from '../ports/capabilities.ts'
import type { Storage } from '../ports/storage.ts'
import type { StoreTime } from '../ports/store-time.ts'
import { MIGRATION_LOCK } from '../sql/migrate.ts'
import { plain } from '../sql/sql-driver.ts'
import { createSqlStorage } from '../sql/sql-storage.ts'
import { PostgresChangeFeed } from './postgres-change-feed.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { PostgresDriver } from './postgres-driver.ts'
import {
  INSTANCE_REPORT_TABLE,
  INSTANCE_TABLE,
  PostgresInstanceReports,
} from './postgres-instance-reports.ts'
import { PostgresRateLimiter, RATE_WINDOW_TABLE } from './postgres-rate-limiter.ts'
import { type PostgresOptions, postgresSettings } from './postgres-settings.ts'

export type { StoredTables } from '../sql/stored-tables.ts'
export type { PostgresOptions } from './postgres-settings.ts'
export { postgresTables } from './postgres-tables.ts'

/** The ports that `postgres` implements. `changeFeed` is absent if `listenUrl` is `false`. */
export type PostgresCapabilities = Omit<Ports, 'changeFeed'> &
  Partial<Pick<Ports, 'changeFeed'>> & { readonly storeTime: StoreTime }

const NOW = plain('select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now')

/**
 * Creates all ports that a server needs, in one PostgreSQL database, for any number of instances.
 * Needs the package `pg`. Throws `INVALID_REQUEST` if an option is invalid. The first call opens a
 * connection, and throws `UNAVAILABLE` if that fails. `storage.migrate` also creates the tables of
 * the rate limiter and of the instance reports, and `storage.close` closes all connections. Idle
 * connections do not keep the process alive.
 *
 * @example
 * createFlagServer({ ...postgres({ url: 'postgres://ff@localhost/flags' }) })
 */
export function postgres(options: PostgresOptions): PostgresCapabilities {
  const settings = postgresSettings(options)
  const driver = new PostgresDriver(settings)
  const storage = createSqlStorage(driver, postgresDialect)
  const changeFeed =
    settings.listenUrl === false
      ? undefined
      : new PostgresChangeFeed({ ...settings, listenUrl: settings.listenUrl, driver })
  if (changeFeed !== undefined && settings.listenUrl === settings.url) {
    driver.spareWith(() => changeFeed.giveWay())
  }
  return {
    storage: {
      ...storage,
      migrate: () => migrate(storage, driver),
      async close() {
        await changeFeed?.close()
        await storage.close()
      },
    },
    rateLimiter: new PostgresRateLimiter(driver),
    instanceReports: new PostgresInstanceReports(driver),
    storeTime: {
      async now() {
        const [rows] = await driver.reader.run([NOW])
        return Number(rows?.[0]?.['now'])
      },
    },
    ...(changeFeed !== undefined && { changeFeed }),
  }
}

async function migrate(storage: Storage, driver: PostgresDriver): Promise<void> {
  await driver.assertEncoding()
  await storage.migrate()
  const createTables = [RATE_WINDOW_TABLE, INSTANCE_TABLE, INSTANCE_REPORT_TABLE].map(plain)
  await driver.transaction(MIGRATION_LOCK, (connection) => connection.run(createTables), {
    isUnlimited: true,
  })
}
