import { type ExpressionBuilder, sql } from 'kysely'
import { KIND_RULES, type Kind, type Records } from '../ports/records.ts'
import { assertFinite, storableWhere } from '../ports/storable.ts'
import type { Changes, ListQuery, PurgeQuery } from '../ports/storage.ts'
import { columnOf, isDeletable, tableOf } from './columns.ts'
import type { AnyTables, SqlDialect } from './dialect.ts'
import { toRow } from './rows.ts'
import type { SqlRow, SqlStatement, SqlValue } from './sql-driver.ts'
import { Placeholders, StatementTemplates, toStatement } from './statement-templates.ts'

type Comparison = readonly [column: string, operator: 'is' | '=' | '>=' | '<', value: SqlValue]

/**
 * The conditions of a query, on columns. A condition that the query does not have is `undefined`.
 */
interface Wanted {
  readonly where: readonly Comparison[]
  readonly search: string | undefined
  /** The elements that arrays must contain. */
  readonly contained: readonly (readonly [column: string, element: string])[]
}

/** The statements that read, write and remove records. */
export class RecordStatements {
  readonly #dialect: SqlDialect
  readonly #templates = new StatementTemplates()

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  find(kind: Kind, id: string): SqlStatement {
    const placeholders = new Placeholders()
    const placeholder = placeholders.for(id)
    return this.#templates.fill(`find ${kind}`, placeholders, () =>
      this.#living(kind).selectAll().where('id', '=', placeholder),
    )
  }

  /** Selects a record as `find` does, and keeps other transactions from changing it. */
  hold(kind: Kind, id: string): SqlStatement {
    if (!this.#dialect.canLockRows) return this.find(kind, id)
    const placeholders = new Placeholders()
    const placeholder = placeholders.for(id)
    return this.#templates.fill(`hold ${kind}`, placeholders, () =>
      this.#living(kind).selectAll().where('id', '=', placeholder).forShare(),
    )
  }

  /**
   * Selects a deleted record. The statement is `undefined` if records of this kind cannot be
   * deleted.
   */
  findDeleted(kind: Kind, id: string): SqlStatement | undefined {
    if (!isDeletable(kind)) return undefined
    const rows = this.#dialect.builder.selectFrom(tableOf(kind)).selectAll().where('id', '=', id)
    return toStatement(rows.where('deleted_at', 'is not', null).compile())
  }

  /**
   * Returns a statement that selects the page. If the query has a `limit`, a second statement
   * counts all matching records, unless `isCounted` is `false`.
   */
  list<K extends Kind>(kind: K, query: ListQuery<K>): readonly SqlStatement[] {
    const { sort, page = 1, limit, isCounted = true } = query
    const placeholders = new Placeholders()
    const wanted = this.#wanted(kind, query, placeholders)
    const after = this.#after(kind, query, placeholders)
    const shape = `${kind} ${JSON.stringify(wanted)} ${JSON.stringify(sort)} ${after !== undefined}`
    const all = () => {
      const rows = this.#sorted(kind, wanted, { sort, isNullable: after === undefined })
      return after === undefined ? rows : rows.where(isAfter(after))
    }
    if (limit === undefined) return [this.#templates.fill(`list ${shape}`, placeholders, all)]
    const [most, skipped] = [placeholders.for(limit), placeholders.for((page - 1) * limit)]
    const onPage = this.#templates.fill(`page ${shape}`, placeholders, () =>
      all().limit(most).offset(skipped),
    )
    if (!isCounted) return [onPage]
    return [
      onPage,
      this.#templates.fill(`count ${shape}`, placeholders, () =>
        this.#matching(kind, wanted).select(sql`count(*)`.as('total')),
      ),
    ]
  }

  insert<K extends Kind>(kind: K, record: Records[K]): SqlStatement {
    const placeholders = new Placeholders()
    const row = this.#row(kind, record, placeholders)
    const { builder, errorsEndTransactions } = this.#dialect
    const insert = this.#templates.fill(`insert ${kind} ${Object.keys(row)}`, placeholders, () => {
      const values = builder.insertInto(tableOf(kind)).values(row)
      return errorsEndTransactions ? values.onConflict((conflict) => conflict.doNothing()) : values
    })
    return errorsEndTransactions ? { ...insert, refusal: 'skips' } : insert
  }

  /** Updates and returns the row. Returns no row if no living record has this id and revision. */
  update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision: number | undefined,
  ): SqlStatement {
    const placeholders = new Placeholders()
    const row = {
      id: placeholders.for(id),
      ...this.#row(kind, changes as Partial<Records[K]>, placeholders),
    }
    const revision = expectedRevision === undefined ? undefined : placeholders.for(expectedRevision)
    const shape = `update ${kind} ${Object.keys(row)} ${revision !== undefined}`
    const statement = this.#templates.fill(shape, placeholders, () => {
      const { builder } = this.#dialect
      let update = builder.updateTable(tableOf(kind)).set(row).where('id', '=', row.id)
      if (isDeletable(kind)) update = update.where('deleted_at', 'is', null)
      if (revision !== undefined) update = update.where('revision', '=', revision)
      return update.returningAll()
    })
    const isUnique = uniqueFields(kind).some((field) => Object.hasOwn(row, columnOf(field)))
    return isUnique ? this.#refusable(statement) : statement
  }

  /**
   * Revives a record and returns its row. Returns no row if no deleted record has this id. The
   * statement is `undefined` if records of this kind cannot be deleted.
   */
  revive(kind: Kind, id: string): SqlStatement | undefined {
    if (!isDeletable(kind)) return undefined
    const update = this.#dialect.builder.updateTable(tableOf(kind)).set('deleted_at', null)
    const deleted = update.where('id', '=', id).where('deleted_at', 'is not', null)
    return this.#refusable(toStatement(deleted.returningAll().compile()))
  }

  /** Removes the matching records and returns one row per record. */
  purge<K extends Kind>(kind: K, query: PurgeQuery<K>): SqlStatement {
    const table = tableOf(kind)
    const placeholders = new Placeholders()
    const wanted = this.#wanted(kind, query, placeholders)
    return this.#templates.fill(`purge ${kind} ${JSON.stringify(wanted)}`, placeholders, () => {
      const matching = this.#matching(kind, wanted, this.#dialect.builder.selectFrom(table))
      const purged = this.#dialect.builder
        .deleteFrom(table)
        .where('id', 'in', matching.select('id'))
      return purged.returning('id')
    })
  }

  /** Marks a statement that can violate a unique key. */
  #refusable(statement: SqlStatement): SqlStatement {
    return this.#dialect.errorsEndTransactions ? { ...statement, refusal: 'fails' } : statement
  }

  #living(kind: Kind) {
    const rows = this.#dialect.builder.selectFrom(tableOf(kind))
    return isDeletable(kind) ? rows.where('deleted_at', 'is', null) : rows
  }

  /**
   * Selects the matching rows in order. `isNullable` is `false` if the sort column is never null: an
   * index of PostgreSQL then has the rows in the same order.
   */
  #sorted<K extends Kind>(
    kind: K,
    wanted: Wanted,
    { sort, isNullable }: { sort: ListQuery<K>['sort'] | undefined; isNullable: boolean },
  ) {
    const rows = this.#matching(kind, wanted).selectAll()
    if (sort === undefined) return rows.orderBy('id', 'asc')
    const isAscending = sort.direction === 'asc'
    return rows
      .orderBy(columnOf(sort.field), (order) => {
        const plain = isAscending ? order.asc() : order.desc()
        if (!isNullable) return plain
        return isAscending ? plain.nullsFirst() : plain.nullsLast()
      })
      .orderBy('id', 'asc')
  }

  /** Returns the position of a query with placeholders for its values. */
  #after<K extends Kind>(
    kind: K,
    { sort, after }: ListQuery<K>,
    placeholders: Placeholders,
  ): SqlPosition | undefined {
    if (after === undefined) return undefined
    const id = placeholders.for(after.id)
    if (sort === undefined) return { value: null, id, isAscending: true }
    const { field, direction } = sort
    const row = this.#row(kind, { [field]: after.value } as Partial<Records[K]>, placeholders)
    const column = columnOf(field)
    return { column, value: row[column] ?? null, id, isAscending: direction === 'asc' }
  }

  /** Returns the columns of these fields, with placeholders for their values. */
  #row<K extends Kind>(kind: K, fields: Partial<Records[K]>, placeholders: Placeholders): SqlRow {
    assertFinite(fields)
    const row: Record<string, SqlValue> = {}
    const values = toRow({ kind, fields, dialect: this.#dialect })
    for (const [column, value] of Object.entries(values)) row[column] = placeholders.for(value)
    return row
  }

  /**
   * Returns the conditions of a query with placeholders for its values. Null has no placeholder,
   * because it requires a different operator.
   */
  #wanted<K extends Kind>(kind: K, query: ListQuery<K>, placeholders: Placeholders): Wanted {
    const { range, search, contains = {} } = query
    const fields = storableWhere(kind, query.where)
    const expected = Object.entries(toRow({ kind, fields, dialect: this.#dialect }))
    const where = expected.map(([column, value]): Comparison => {
      return value === null ? [column, 'is', null] : [column, '=', placeholders.for(value)]
    })
    const { field = '', from, to } = range ?? {}
    if (from !== undefined) where.push([columnOf(field), '>=', placeholders.for(from)])
    if (to !== undefined) where.push([columnOf(field), '<', placeholders.for(to)])
    const contained = Object.entries<readonly string[] | undefined>(contains).flatMap(
      ([array, elements = []]) =>
        elements.map(
          (element) =>
            [columnOf(array), placeholders.for(this.#dialect.fromElement(element))] as const,
        ),
    )
    return { where, contained, search: search === undefined ? search : placeholders.for(search) }
  }

  #matching(kind: Kind, { where, search, contained }: Wanted, among = this.#living(kind)) {
    let rows = among
    for (const comparison of where) rows = rows.where(...comparison)
    if (search !== undefined) {
      const columns = KIND_RULES[kind].searchable.map((field) => columnOf(field))
      rows = rows.where(({ or }) =>
        or(columns.map((column) => this.#dialect.containsText(column, search))),
      )
    }
    for (const [column, element] of contained) {
      rows = rows.where(this.#dialect.containsElement(column, element))
    }
    return rows
  }
}

/** A position in a list. `column` is absent if the list is ordered by id. */
interface SqlPosition {
  readonly column?: string
  readonly value: SqlValue
  readonly id: string
  readonly isAscending: boolean
}

/** Returns the condition for rows behind a position. Its first part lets an index find them. */
function isAfter({ column, value, id, isAscending }: SqlPosition) {
  return (build: ExpressionBuilder<AnyTables, string>) => {
    const isLaterId = build('id', '>', id)
    if (column === undefined) return isLaterId
    const [from, later] = isAscending ? (['>=', '>'] as const) : (['<=', '<'] as const)
    const isLater = build.or([build(column, later, value), isLaterId])
    return build.and([build(column, from, value), isLater])
  }
}

/** Returns the fields that are part of a unique key. */
function uniqueFields(kind: Kind): readonly string[] {
  return KIND_RULES[kind].unique.flat()
}
