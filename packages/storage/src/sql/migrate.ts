import { FlagError } from '@ff/core'
import type { SqlDialect } from './dialect.ts'
import { initial } from './migrations/0001-initial.ts'
import { auditWalks } from './migrations/0002-audit-walks.ts'
import { clientVisibility } from './migrations/0003-client-visibility.ts'
import { environmentSettings } from './migrations/0004-environment-settings.ts'
import { flagSummaries } from './migrations/0005-flag-summaries.ts'
import { observedContextReduction } from './migrations/0006-observed-context-reduction.ts'
import { severalInstances } from './migrations/0007-several-instances.ts'
import { leases } from './migrations/0008-leases.ts'
import { rulesInSummaries } from './migrations/0009-rules-in-summaries.ts'
import { longContextKeys } from './migrations/0010-long-context-keys.ts'
import { flagsOfUserSketches } from './migrations/0011-flags-of-user-sketches.ts'
import { noStoredResults } from './migrations/0012-no-stored-results.ts'
import { observedContextLimits } from './migrations/0013-observed-context-limits.ts'
import { shorterContextKeyIndex } from './migrations/0014-shorter-context-key-index.ts'
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
  severalInstances,
  leases,
  rulesInSummaries,
  longContextKeys,
  flagsOfUserSketches,
  noStoredResults,
  observedContextLimits,
  shorterContextKeyIndex,
]

/** The lock of transactions that migrate the database. */
export const MIGRATION_LOCK = 'migrate'

/** The names of all migrations, in the order in which they run. */
export const SCHEMA: readonly string[] = MIGRATIONS.map(({ name }) => name)

/**
 * Runs all pending migrations in one transaction: either all of them take effect or none. Throws
 * `UNAVAILABLE` if a later release has migrated the database.
 */
export async function migrate(driver: SqlDriver, dialect: SqlDialect): Promise<void> {
  const work = (connection: SqlConnection) => runMigrations(connection, dialect)
  await driver.transaction(MIGRATION_LOCK, work, { isUnlimited: true })
}

/**
 * Runs the pending ones of the first `count` migrations. Throws `UNAVAILABLE` if a later release
 * has migrated the database.
 */
export async function runMigrations(
  connection: SqlConnection,
  dialect: SqlDialect,
  count = MIGRATIONS.length,
): Promise<void> {
  const [, rows = []] = await connection.run([
    plain(`create table if not exists ff_migration (name ${dialect.columns.text} primary key)`),
    APPLIED,
  ])
  const applied = new Set(rows.map(({ name }) => String(name)))
  assertKnown([...applied])
  for (const migration of MIGRATIONS.slice(0, count)) {
    if (applied.has(migration.name)) continue
    const statements = migration.statements(dialect.columns).map(plain)
    await connection.run([
      ...statements,
      plain(`insert into ff_migration values ('${migration.name}')`),
    ])
  }
}

/** The query of the migrations that a database has, in their order. */
export const APPLIED = plain('select name from ff_migration order by name')

/** Throws `UNAVAILABLE` if a name is not that of a migration. */
export function assertKnown(names: readonly string[]): void {
  const unknown = names.find((name) => !SCHEMA.includes(name))
  if (unknown !== undefined) throw laterRelease(unknown)
}

/** Returns the names of the tables that the first `count` migrations create. */
export function tablesAfter(count: number, dialect: SqlDialect): ReadonlySet<string> {
  const tables = new Set<string>()
  for (const migration of MIGRATIONS.slice(0, count)) {
    for (const statement of migration.statements(dialect.columns)) {
      const [, action, name = ''] = /^\s*(create|drop) table (\w+)/.exec(statement) ?? []
      if (action === 'create') tables.add(name)
      if (action === 'drop') tables.delete(name)
    }
  }
  return tables
}

function laterRelease(name: string): FlagError {
  const message = `The store was migrated by a later release (unknown migration ${name}). Start that release or a newer one.`
  return new FlagError('UNAVAILABLE', message)
}
