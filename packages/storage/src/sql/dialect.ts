import {
  DummyDriver,
  Kysely,
  type RawBuilder,
  type SqlBool,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { ColumnDeclarations } from './migrations/migration.ts'
import type { SqlValue } from './sql-driver.ts'

/** Table and column names are data here; `columns.ts` derives them from kinds and fields. */
interface AnyTables {
  readonly [table: string]: { readonly [column: string]: SqlValue }
}

/** What differs between databases. */
export interface SqlDialect {
  /** Composes statements; it never runs them. */
  readonly builder: Kysely<AnyTables>
  readonly columns: ColumnDeclarations
  readonly fromBoolean: (value: boolean) => SqlValue
  /** Does the column contain the text, ignoring ASCII case? */
  readonly containsText: (column: string, text: string) => RawBuilder<SqlBool>
  /** Is the text an element of the column's JSON array? */
  readonly containsElement: (column: string, element: string) => RawBuilder<SqlBool>
  /** The rows to insert that a JSON text holds: an array of arrays, with one value for each column. */
  readonly rowsOf: (columns: readonly string[], json: string) => RawBuilder<unknown>
}

/** The dialect of SQLite. */
export const sqliteDialect: SqlDialect = {
  builder: new Kysely<AnyTables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  columns: { text: 'text', real: 'real' },
  fromBoolean: (value) => (value ? 1 : 0),
  containsText: (column, text) => sql`instr(lower(${sql.ref(column)}), lower(${text})) > 0`,
  containsElement: (column, element) =>
    sql`exists (select 1 from json_each(${sql.ref(column)}) where json_each.value = ${element})`,
  // Without a condition, SQLite would read the `on conflict` that follows as one of a join.
  rowsOf: (columns, json) => {
    const fields = columns.map((_column, index) => sql`value ->> ${sql.lit(index)}`)
    return sql`select ${sql.join(fields)} from json_each(${json}) where true`
  },
}
