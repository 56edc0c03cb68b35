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
export interface AnyTables {
  readonly [table: string]: { readonly [column: string]: SqlValue }
}

/** The differences between SQL databases. */
export interface SqlDialect {
  /** Builds statements but does not run them. */
  readonly builder: Kysely<AnyTables>
  /** The declarations in migrations. */
  readonly columns: ColumnDeclarations
  /** Converts a boolean to a column value. */
  readonly fromBoolean: (value: boolean) => SqlValue
  /** Builds the condition that a column contains a text, ignoring ASCII case. */
  readonly containsText: (column: string, text: string) => RawBuilder<SqlBool>
  /** Converts a string to the form in which `containsElement` compares it. */
  readonly fromElement: (element: string) => string
  /** Builds the condition that the JSON array in a column contains a string. */
  readonly containsElement: (column: string, element: string) => RawBuilder<SqlBool>
  /**
   * A query of the columns of all tables whose names begin with `ff_`, except for those that a crash
   * of the database empties: `table`, `column`, `is_boolean`, and `key_position`, the position in the
   * primary key from 1, or 0. The rows are ordered by table and column.
   */
  readonly catalog: string
  /** Builds a query of rows that are passed in one parameter. */
  readonly rowsOf: (rows: RowsToInsert) => RawBuilder<unknown>
  /**
   * `true` if every error of a statement ends its transaction. The statements are then built and
   * marked so that the driver can prevent errors; see `SqlStatement.refusal`.
   */
  readonly errorsEndTransactions: boolean
  /** `true` if a transaction can lock the rows that it reads. */
  readonly canLockRows: boolean
  /** The present time of the database in epoch milliseconds, an integer. */
  readonly nowMs: RawBuilder<number>
}

/** Rows for a table. */
export interface RowsToInsert {
  readonly table: string
  readonly columns: readonly string[]
  /** The rows, each with one value for each column. */
  readonly rows: readonly (readonly (SqlValue | undefined)[])[]
}

const SQLITE_CATALOG = `
  select tables.name as "table", columns.name as "column",
    lower(columns.type) = 'boolean' as is_boolean, columns.pk as key_position
  from sqlite_master as tables join pragma_table_info(tables.name) as columns
  where tables.type = 'table' and tables.name glob 'ff_*'
  order by tables.name, columns.name`

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
  columns: {
    ...{ text: 'text', real: 'real', integer: 'integer' },
    longText: (text, owner) => (owner === undefined ? `(${text})` : `(${owner}, ${text})`),
  },
  fromBoolean: (value) => (value ? 1 : 0),
  containsText: (column, text) => sql`instr(lower(${sql.ref(column)}), lower(${text})) > 0`,
  fromElement: (element) => element,
  containsElement: (column, element) =>
    sql`exists (select 1 from json_each(${sql.ref(column)}) where json_each.value = ${element})`,
  catalog: SQLITE_CATALOG,
  // Without `where`, SQLite parses the `on` of a following `on conflict` as a join condition.
  rowsOf: ({ columns, rows }) => {
    const fields = columns.map((_column, index) => sql`value ->> ${sql.lit(index)}`)
    return sql`select ${sql.join(fields)} from json_each(${JSON.stringify(rows)}) where true`
  },
  errorsEndTransactions: false,
  canLockRows: false,
  nowMs: sql`cast((julianday('now') - 2440587.5) * 86400000 as integer)`,
}
