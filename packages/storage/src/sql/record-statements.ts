import { sql } from 'kysely'
import { KIND_RULES, type Kind, type Records } from '../records.ts'
import type { Changes, ListQuery, PurgeQuery } from '../storage.ts'
import type { SqlDialect } from './dialect.ts'
import { columnOf, toRow } from './rows.ts'
import type { SqlStatement, SqlValue } from './sql-driver.ts'
import { TABLES } from './tables.ts'

/** The statements of the four plain verbs. */
export class RecordStatements {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  find(kind: Kind, id: string): SqlStatement {
    return statement(this.#living(kind).selectAll().where('id', '=', id))
  }

  /** The page; and the `total` of all pages, where there can be others. */
  list<K extends Kind>(kind: K, query: ListQuery<K>): readonly SqlStatement[] {
    const matching = this.#matching(kind, query)
    const { sort, page = 1, limit } = query
    let rows = matching.selectAll()
    if (sort !== undefined) {
      const isAscending = sort.direction === 'asc'
      rows = rows.orderBy(columnOf(kind, sort.field), (order) =>
        isAscending ? order.asc().nullsFirst() : order.desc().nullsLast(),
      )
    }
    rows = rows.orderBy('id', 'asc')
    if (limit === undefined) return [statement(rows)]
    const paged = rows.limit(limit).offset((page - 1) * limit)
    return [statement(paged), statement(matching.select(sql`count(*)`.as('total')))]
  }

  insert<K extends Kind>(kind: K, record: Records[K]): SqlStatement {
    const row = toRow({ kind, fields: record, dialect: this.#dialect })
    return statement(this.#dialect.builder.insertInto(TABLES[kind].name).values(row))
  }

  /** Answers the changed row: none when no living record has this id and revision. */
  update<K extends Kind>(
    kind: K,
    id: string,
    changes: Changes<K>,
    expectedRevision: number | undefined,
  ): SqlStatement {
    const fields = changes as Partial<Records[K]>
    const row = { id, ...toRow({ kind, fields, dialect: this.#dialect }) }
    let update = this.#dialect.builder.updateTable(TABLES[kind].name).set(row).where('id', '=', id)
    if (isDeletable(kind)) update = update.where('deleted_at', 'is', null)
    if (expectedRevision !== undefined) update = update.where('revision', '=', expectedRevision)
    return statement(update.returningAll())
  }

  /** Answers the revived row, if one was deleted; undefined: this kind is never deleted. */
  revive(kind: Kind, id: string): SqlStatement | undefined {
    if (!isDeletable(kind)) return undefined
    const update = this.#dialect.builder.updateTable(TABLES[kind].name).set('deleted_at', null)
    return statement(update.where('id', '=', id).where('deleted_at', 'is not', null).returningAll())
  }

  /** Answers one row for each record that was removed. */
  purge<K extends Kind>(kind: K, query: PurgeQuery<K>): SqlStatement {
    const { name } = TABLES[kind]
    const matching = this.#matching(kind, query, this.#dialect.builder.selectFrom(name))
    const purged = this.#dialect.builder.deleteFrom(name).where('id', 'in', matching.select('id'))
    return statement(purged.returning('id'))
  }

  #living(kind: Kind) {
    const rows = this.#dialect.builder.selectFrom(TABLES[kind].name)
    return isDeletable(kind) ? rows.where('deleted_at', 'is', null) : rows
  }

  #matching<K extends Kind>(kind: K, query: ListQuery<K>, among = this.#living(kind)) {
    const { where = {} as Partial<Records[K]>, range, search, tag } = query
    let rows = among
    const expected = toRow({ kind, fields: where, dialect: this.#dialect })
    for (const [column, value] of Object.entries(expected)) {
      rows = rows.where(column, value === null ? 'is' : '=', value)
    }
    if (range?.from !== undefined) rows = rows.where(columnOf(kind, range.field), '>=', range.from)
    if (range?.to !== undefined) rows = rows.where(columnOf(kind, range.field), '<', range.to)
    if (search !== undefined) {
      const columns = KIND_RULES[kind].searchable.map((field) => columnOf(kind, field))
      rows = rows.where(({ or }) =>
        or(columns.map((column) => this.#dialect.containsText(column, search))),
      )
    }
    if (tag !== undefined) {
      rows = rows.where(
        hasTags(kind) ? this.#dialect.containsElement('tags', tag) : sql<boolean>`1 = 0`,
      )
    }
    return rows
  }
}

function isDeletable(kind: Kind): boolean {
  return Object.hasOwn(TABLES[kind].columns, 'deletedAt')
}

function hasTags(kind: Kind): boolean {
  return Object.hasOwn(TABLES[kind].columns, 'tags')
}

interface Compilable {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] }
}

function statement(query: Compilable): SqlStatement {
  const { sql: text, parameters } = query.compile()
  return { sql: text, parameters: parameters as readonly SqlValue[] }
}
