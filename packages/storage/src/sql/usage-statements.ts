import { type RawBuilder, sql } from 'kysely'
import type { ContextSample, EvaluationCount, EvaluationCountQuery } from '../ports/storage.ts'
import type { SqlDialect } from './dialect.ts'
import { columnOf, toRow, toVariationColumn } from './rows.ts'
import type { SqlStatement, SqlValue } from './sql-driver.ts'
import { TABLES } from './tables/tables.ts'

const { name: CONTEXTS, columns: CONTEXT_COLUMNS } = TABLES.observedContext
const CONTEXT_FIELDS = Object.keys(CONTEXT_COLUMNS)
/** The fields that identify a context, which never change. */
const IDENTITY: readonly string[] = ['id', 'environmentId', 'hash', 'deletedAt']

/**
 * The statements for what evaluating leaves behind. However much is written, it is one statement
 * with one parameter: that is compiled and handed over in a moment, and refused as a whole.
 */
export class UsageStatements {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** None of these may have the same name as another. */
  addCounts(counts: readonly EvaluationCount[]): SqlStatement {
    const rows = counts.map((count) => [
      count.environmentId,
      count.flagId,
      count.minute,
      toVariationColumn(count.variationId),
      count.reason,
      count.source,
      count.count,
      count.micros,
    ])
    return this.#statement(sql`
      insert into ff_evaluation_count
        (environment_id, flag_id, minute, variation_id, reason, source, count, micros)
      ${this.#dialect.rowsOf(
        ['text', 'text', 'text', 'text', 'text', 'text', 'integer', 'integer'],
        JSON.stringify(rows),
      )}
      on conflict (environment_id, flag_id, minute, variation_id, reason, source) do update set
        count = ff_evaluation_count.count + excluded.count,
        micros = ff_evaluation_count.micros + excluded.micros`)
  }

  /** Rows for `toEvaluationTotal`. */
  totals({ environmentId, flagId, from, to }: EvaluationCountQuery): SqlStatement {
    return this.#statement(sql`
      select variation_id, reason, source, sum(count) as count, sum(micros) as micros
      from ff_evaluation_count
      where environment_id = ${environmentId} and flag_id = ${flagId}
        and minute >= ${from} and minute < ${to}
      group by variation_id, reason, source`)
  }

  dropCounts(beforeMinute: string): SqlStatement {
    return this.#statement(sql`delete from ff_evaluation_count where minute < ${beforeMinute}`)
  }

  /** None of these may be of the same context as another. */
  recordContextSamples(samples: readonly ContextSample[]): SqlStatement {
    const rows = samples.map((sample) => {
      const fields = { ...sample, deletedAt: null }
      const row = toRow({ kind: 'observedContext', fields, dialect: this.#dialect })
      return CONTEXT_FIELDS.map((field) => row[contextColumn(field)])
    })
    const columns = CONTEXT_FIELDS.map((field) => sql.ref(contextColumn(field)))
    const changed = CONTEXT_FIELDS.filter((field) => !IDENTITY.includes(field))
    return this.#statement(sql`
      insert into ${sql.table(CONTEXTS)} (${sql.join(columns)})
      ${this.#dialect.rowsOf(Object.values(CONTEXT_COLUMNS), JSON.stringify(rows))}
      on conflict (environment_id, hash) where deleted_at is null do update set
        ${sql.join(changed.map(seenAgain))}`)
  }

  #statement(query: RawBuilder<unknown>): SqlStatement {
    const { sql: text, parameters } = query.compile(this.#dialect.builder)
    return { sql: text, parameters: parameters as readonly SqlValue[] }
  }
}

/** Returns the assignment of one field, equal to `addContextSample`. */
function seenAgain(field: string): RawBuilder<unknown> {
  const column = contextColumn(field)
  const known = sql.ref(`${CONTEXTS}.${column}`)
  const added = sql.ref(`excluded.${column}`)
  if (field === 'seenCount') return sql`${sql.ref(column)} = ${known} + ${added}`
  const isKept =
    field === 'firstSeen'
      ? sql`${known} <= ${added}`
      : sql`${sql.table(CONTEXTS)}.last_seen > excluded.last_seen`
  return sql`${sql.ref(column)} = case when ${isKept} then ${known} else ${added} end`
}

function contextColumn(field: string): string {
  return columnOf('observedContext', field)
}
