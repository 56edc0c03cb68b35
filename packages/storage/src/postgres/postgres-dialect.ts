import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import type { AnyTables, SqlDialect } from '../sql/dialect.ts'

/** The persistent tables that statements find without the name of a schema. */
const CATALOG = `
  select cast(tables.relname as text) as "table", cast(columns.attname as text) as "column",
    columns.atttypid = cast('boolean' as regtype) as is_boolean,
    coalesce(array_position(keys.indkey, columns.attnum) + 1, 0) as key_position
  from pg_class as tables
    join pg_attribute as columns on columns.attrelid = tables.oid
    left join pg_index as keys on keys.indrelid = tables.oid and keys.indisprimary
  where tables.relkind = 'r' and tables.relpersistence = 'p' and pg_table_is_visible(tables.oid)
    and starts_with(tables.relname, 'ff_') and columns.attnum > 0 and not columns.attisdropped
  order by tables.relname collate "C", columns.attname collate "C"`

/**
 * The dialect of PostgreSQL. JSON is stored as text, so that it is returned unchanged. Conditions
 * on JSON use the type `json`, because `jsonb` refuses U+0000.
 */
export const postgresDialect: SqlDialect = {
  builder: new Kysely<AnyTables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
  columns: {
    ...{ text: 'text collate "C"', real: 'double precision', integer: 'bigint' },
    longText: (text) => `using hash (${text})`,
  },
  fromBoolean: (value) => value,
  // In the collation "C", `lower` changes only ASCII letters.
  containsText: (column, text) =>
    sql`strpos(lower(${sql.ref(column)}), lower(cast(${text} as text) collate "C")) > 0`,
  // An element is compared as JSON text, because a text with U+0000 has no other representation.
  fromElement: (element) => JSON.stringify(element),
  containsElement: (column, element) =>
    sql`exists (
      select 1 from json_array_elements(cast(${sql.ref(column)} as json)) as element (value)
      where cast(element.value as text) = ${element})`,
  catalog: CATALOG,
  rowsOf: ({ table, columns, rows }) => {
    const objects = rows.map((row) =>
      Object.fromEntries(columns.map((column, index) => [column, row[index]])),
    )
    const fields = columns.map((column) => sql.ref(column))
    return sql`select ${sql.join(fields)} from json_populate_recordset(
      cast(null as ${sql.table(table)}), cast(${JSON.stringify(objects)} as json))`
  },
  errorsEndTransactions: true,
  canLockRows: true,
  nowMs: sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
}
