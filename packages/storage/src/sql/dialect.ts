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

/** A schema with any table and column names, because `columns.ts` derives the names. */
interface AnyTables {
  readonly [table: string]: { readonly [column: string]: SqlValue }
}

/** The differences between SQL databases. */
export interface SqlDialect {
  /** Builds statements but does not run them. */
  readonly builder: Kysely<AnyTables>
  /** The column types in migrations. */
  readonly columns: ColumnDeclarations
  /** Converts a boolean to a column value. */
  readonly fromBoolean: (value: boolean) => SqlValue
  /** Builds the condition that a column contains a text, ignoring ASCII case. */
  readonly containsText: (column: string, text: string) => RawBuilder<SqlBool>
  /** Builds the condition that the JSON array in a column contains a string. */
  readonly containsElement: (column: string, element: string) => RawBuilder<SqlBool>
  /**
   * Builds a query of the rows in a JSON text: an array that contains one array per row, with one
   * value for each column.
   */
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
  // Without `where`, SQLite parses the `on` of a following `on conflict` as a join condition.
  rowsOf: (columns, json) => {
    const fields = columns.map((_column, index) => sql`value ->> ${sql.lit(index)}`)
    return sql`select ${sql.join(fields)} from json_each(${json}) where true`
  },
}
