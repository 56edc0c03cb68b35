import { FlagError } from '@ff/core'
import type { SqlDialect } from './dialect.ts'
import { initial } from './migrations/0001-initial.ts'
import { auditWalks } from './migrations/0002-audit-walks.ts'
import { clientVisibility } from './migrations/0003-client-visibility.ts'
import { environmentSettings } from './migrations/0004-environment-settings.ts'
import { flagSummaries } from './migrations/0005-flag-summaries.ts'
import { observedContextReduction } from './migrations/0006-observed-context-reduction.ts'
import { leases } from './migrations/0008-leases.ts'
import type { Migration } from './migrations/migration.ts'
import { plain, type SqlConnection, type SqlDriver } from './sql-driver.ts'

/** All migrations, in the order in which they run. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  auditWalks,
  clientVisibility,
  environmentSettings,
  flagSummaries,
  observedContextReduction,
  leases,
]

/** The lock of transactions that migrate the database. */
export const MIGRATION_LOCK = 'migrate'

/**
 * Runs all pending migrations in one transaction: either all of them take effect or none. Throws
 * `UNAVAILABLE` if a later release has migrated the database.
 */
export async function migrate(driver: SqlDriver, dialect: SqlDialect): Promise<void> {
  const work = async (connection: SqlConnection) => {
    const [, rows = []] = await connection.run([
      plain(`create table if not exists ff_migration (name ${dialect.columns.text} primary key)`),
      plain('select name from ff_migration'),
    ])
    const applied = new Set(rows.map(({ name }) => name))
    for (const name of applied) {
      if (!MIGRATIONS.some((known) => known.name === name)) throw laterRelease(String(name))
    }
    for (const migration of MIGRATIONS) {
      if (applied.has(migration.name)) continue
      const statements = migration.statements(dialect.columns).map(plain)
      await connection.run([
        ...statements,
        plain(`insert into ff_migration values ('${migration.name}')`),
      ])
    }
  }
  await driver.transaction(MIGRATION_LOCK, work, { isUnlimited: true })
}

function laterRelease(name: string): FlagError {
  const message = `The store was migrated by a later release (unknown migration ${name}). Start that release or a newer one.`
  return new FlagError('UNAVAILABLE', message)
}
