import { type RawBuilder, sql } from 'kysely'
import type { ContextQuery, ContextSample } from '../ports/storage.ts'
import type { ApiCalls, EvaluationCount, EvaluationCountQuery } from '../ports/usage.ts'
import { columnOf, tableOf } from './columns.ts'
import type { SqlDialect } from './dialect.ts'
import { toRow, toVariationColumn } from './rows.ts'
import type { SqlStatement } from './sql-driver.ts'
import { toStatement } from './statement-templates.ts'

const CONTEXTS = tableOf('observedContext')
/** The columns that identify a context and that samples do not change. */
const IDENTITY: readonly string[] = ['id', 'environment_id', 'hash', 'deleted_at']

const COUNT_FIELDS = [
  'environmentId',
  'flagId',
  'minute',
  'variationId',
  'reason',
  'source',
  'instanceId',
  'count',
  'micros',
] as const satisfies readonly (keyof EvaluationCount)[]
const COUNT_COLUMNS = COUNT_FIELDS.map(columnOf)

const CALL_FIELDS = [
  'organizationId',
  'instanceId',
  'calls',
] as const satisfies readonly (keyof ApiCalls)[]
const CALL_COLUMNS = CALL_FIELDS.map(columnOf)

/**
 * The statements of evaluation counts, API calls and context samples. One statement with one JSON
 * parameter writes any number of rows. Such a statement is fast to compile and to send, and writes
 * either all rows or none.
 */
export class UsageStatements {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** Adds counts to the stored counts. Each count must have a different name (`countName`). */
  addCounts(counts: readonly EvaluationCount[]): SqlStatement {
    const rows = counts.map((count) => {
      const kept = { ...count, variationId: toVariationColumn(count.variationId) }
      return COUNT_FIELDS.map((field) => kept[field])
    })
    return this.#refusable(sql`
      insert into ff_evaluation_count (${sql.join(COUNT_COLUMNS.map((column) => sql.ref(column)))})
      ${this.#dialect.rowsOf({ table: 'ff_evaluation_count', columns: COUNT_COLUMNS, rows })}
      on conflict (environment_id, flag_id, minute, variation_id, reason, source, instance_id)
      do update set
        count = ff_evaluation_count.count + excluded.count,
        micros = ff_evaluation_count.micros + excluded.micros`)
  }

  /** Selects one total per outcome, of all instances. `toEvaluationTotal` converts the rows. */
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

  /** Marks living flags as evaluated at a time, except those that other transactions have locked. */
  mark(flagIds: readonly string[], at: string): SqlStatement {
    const lock = this.#dialect.canLockRows ? sql`for update skip locked` : sql``
    return this.#statement(sql`
      with due as (${dueFlags(flagIds, at)} ${lock})
      update ff_flag set last_evaluated_at = ${at}, unused_since = ${at}
      where id in (select id from due)`)
  }

  /** Selects the `id` of the flags that `mark` has skipped. */
  unmarked(flagIds: readonly string[], at: string): SqlStatement {
    return this.#statement(dueFlags(flagIds, at))
  }

  /** Adds API calls to the stored ones. Each must have a different name (`apiCallsName`). */
  addApiCalls(calls: readonly ApiCalls[]): SqlStatement {
    const rows = calls.map((each) => CALL_FIELDS.map((field) => each[field]))
    return this.#refusable(sql`
      insert into ff_api_calls (${sql.join(CALL_COLUMNS.map((column) => sql.ref(column)))})
      ${this.#dialect.rowsOf({ table: 'ff_api_calls', columns: CALL_COLUMNS, rows })}
      on conflict (organization_id, instance_id)
      do update set calls = ff_api_calls.calls + excluded.calls`)
  }

  /** Selects the `organization_id` and the sum of `calls`, of all organizations without ids. */
  apiCalls(ids?: readonly string[]): SqlStatement {
    return this.#statement(sql`
      select organization_id, sum(calls) as calls from ff_api_calls
      ${ids === undefined ? sql`` : sql`where organization_id in (${sql.join(ids)})`}
      group by organization_id`)
  }

  /** Removes the API calls of an organization and returns the `calls` of each instance. */
  takeApiCalls(organizationId: string): SqlStatement {
    return this.#statement(sql`
      delete from ff_api_calls where organization_id = ${organizationId} returning calls`)
  }

  /** Merges samples into the stored contexts. Each sample must belong to a different context. */
  recordContextSamples(samples: readonly ContextSample[]): SqlStatement {
    const rows = samples.map((sample) => {
      const fields = { ...sample, deletedAt: null }
      return toRow({ kind: 'observedContext', fields, dialect: this.#dialect })
    })
    const columns = Object.keys(rows[0] ?? {})
    const values = rows.map((row) => columns.map((column) => row[column]))
    const changed = columns.filter((column) => !IDENTITY.includes(column))
    return this.#refusable(sql`
      insert into ${sql.table(CONTEXTS)} (${sql.join(columns.map((column) => sql.ref(column)))})
      ${this.#dialect.rowsOf({ table: CONTEXTS, columns, rows: values })}
      on conflict (environment_id, hash) where deleted_at is null do update set
        ${sql.join(changed.map(seenAgain))}`)
  }

  /**
   * Selects observed contexts in the order of their hashes, and then their total number.
   * `toObservedAttributes` converts the rows. The inner query reads only an index.
   */
  contexts(query: ContextQuery): readonly SqlStatement[] {
    const { environmentId, seenFrom, after = '', limit, isCounted = true } = query
    const seen = sql`environment_id = ${environmentId} and last_seen >= ${seenFrom}
      and deleted_at is null`
    const onPage = this.#statement(sql`
      select hash, kind, "key", last_seen, seen_count, reduced_by, settings_revision, context_json
      from ${sql.table(CONTEXTS)}
      where environment_id = ${environmentId} and deleted_at is null and hash in (
        select hash from ${sql.table(CONTEXTS)} where ${seen} and hash > ${after}
        order by hash limit ${limit})
      order by hash`)
    if (!isCounted) return [onPage]
    const count = sql`select count(*) as total from ${sql.table(CONTEXTS)} where ${seen}`
    return [onPage, this.#statement(count)]
  }

  #refusable(query: RawBuilder<unknown>): SqlStatement {
    const statement = this.#statement(query)
    return this.#dialect.errorsEndTransactions ? { ...statement, refusal: 'fails' } : statement
  }

  #statement(query: RawBuilder<unknown>): SqlStatement {
    return toStatement(query.compile(this.#dialect.builder))
  }
}

/** Selects the living flags with an earlier evaluation time or none. */
function dueFlags(flagIds: readonly string[], at: string): RawBuilder<unknown> {
  return sql`
    select id from ff_flag where id in (${sql.join(flagIds)}) and deleted_at is null
      and (last_evaluated_at is null or last_evaluated_at < ${at})`
}

/**
 * Returns the assignment that merges one column of a stored context with a sample. Its result is
 * the same as that of `addContextSample`.
 */
function seenAgain(column: string): RawBuilder<unknown> {
  const known = sql.ref(`${CONTEXTS}.${column}`)
  const added = sql.ref(`excluded.${column}`)
  if (column === 'seen_count') return sql`${sql.ref(column)} = ${known} + ${added}`
  const isKept =
    column === 'first_seen'
      ? sql`${known} <= ${added}`
      : sql`${sql.table(CONTEXTS)}.last_seen > excluded.last_seen`
  return sql`${sql.ref(column)} = case when ${isKept} then ${known} else ${added} end`
}
