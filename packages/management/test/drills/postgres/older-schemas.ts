import { postgresDialect } from '../../../../storage/src/postgres/postgres-dialect.ts'
import { MIGRATIONS } from '../../../../storage/src/sql/migrate.ts'
import { readFromPostgres, runOnPostgres } from '../../../../storage/test/postgres-schema.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'

/** The number of migrations of this release. */
export const RELEASED = MIGRATIONS.length

/**
 * Creates a schema as an earlier release with this number of migrations has left it, with the
 * records of another store, and returns its URL. The schema is dropped after the test.
 */
export async function createOlderSchema(migrations: number, source: string): Promise<string> {
  const { url } = await newPostgresSchema()
  if (migrations === 0) return url
  const applied = MIGRATIONS.slice(0, migrations)
  const statements = [
    `create table ff_migration (name ${postgresDialect.columns.text} primary key)`,
    ...applied.flatMap(({ statements }) => statements(postgresDialect.columns)),
    ...applied.map(({ name }) => `insert into ff_migration values ('${name}')`),
  ]
  await runOnPostgres(statements.join(';'), url)
  await runOnPostgres((await copies(url, source)).join(';'), url)
  return url
}

/** Returns the number of applied migrations of a schema. */
export async function appliedMigrations(url: string): Promise<number> {
  const [table] = await readFromPostgres(`select to_regclass('ff_migration') as name`, url)
  if (table?.['name'] === null) return 0
  const [row] = await readFromPostgres('select count(*)::int as count from ff_migration', url)
  return Number(row?.['count'])
}

/** Returns the statements that copy the columns that both schemas have. */
async function copies(target: string, source: string): Promise<readonly string[]> {
  const [schema] = await readFromPostgres('select current_schema() as name', source)
  const statements = `
    select format('insert into %1$I (%2$s) select %2$s from %3$I.%1$I', table_name,
      string_agg(quote_ident(column_name), ', '), min(given.table_schema)) as statement
    from information_schema.columns own
    join information_schema.columns given using (table_name, column_name)
    where own.table_schema = current_schema() and given.table_schema = '${schema?.['name']}'
      and table_name <> 'ff_migration'
    group by table_name`
  const rows = await readFromPostgres(statements, target)
  return rows.map(({ statement }) => String(statement))
}
