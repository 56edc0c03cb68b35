import { type RawBuilder, sql } from 'kysely'
import type { DeliveryClaim } from '../ports/delivery-claim.ts'
import type { SqlDialect } from './dialect.ts'
import type { SqlStatement } from './sql-driver.ts'
import { toStatement } from './statement-templates.ts'

/** The statements that claim and postpone due webhook deliveries. */
export class DeliveryStatements {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /**
   * Claims deliveries and returns their rows. The deliveries that are read are a common table
   * expression, because PostgreSQL could run a subquery that locks rows more than once.
   */
  claim(claim: DeliveryClaim): SqlStatement {
    const { expiresAt, limit, limitPerWebhook } = claim
    return this.#statement(sql`
      with due as (${this.#due(claim)}),
      ranked as (
        select id, next_attempt_at,
          row_number() over (partition by webhook_id order by next_attempt_at, id)
            + ${inProgressTo(claim)} as place
        from due)
      update ff_webhook_delivery set attempts = attempts + 1, next_attempt_at = ${expiresAt},
        last_status = null, last_error = null, duration_ms = null
      where id in (
        select id from ranked where place <= ${limitPerWebhook}
        order by next_attempt_at, id limit ${limit})
      returning *`)
  }

  /** Postpones the deliveries that are still due to one of these webhooks. */
  postpone(claim: DeliveryClaim, webhookIds: readonly string[]): SqlStatement {
    return this.#statement(sql`
      with due as (${this.#due(claim)})
      update ff_webhook_delivery set next_attempt_at = ${claim.postponedTo}
      where id in (select id from due where webhook_id in (${sql.join(webhookIds)}))`)
  }

  #due({ now, readLimit }: DeliveryClaim): RawBuilder<unknown> {
    const lock = this.#dialect.canLockRows ? sql`for update skip locked` : sql``
    return sql`
      select id, webhook_id, next_attempt_at from ff_webhook_delivery
      where status = 'pending' and next_attempt_at <= ${now}
      order by next_attempt_at, id limit ${readLimit} ${lock}`
  }

  #statement(query: RawBuilder<unknown>): SqlStatement {
    return toStatement(query.compile(this.#dialect.builder))
  }
}

/** Builds the number of deliveries in progress to the webhook of a row. */
function inProgressTo({ inProgress }: DeliveryClaim): RawBuilder<unknown> {
  const counts = Object.entries(inProgress)
  if (counts.length === 0) return sql`0`
  const cases = counts.map(([id, count]) => sql`when ${id} then cast(${count} as bigint)`)
  return sql`case webhook_id ${sql.join(cases, sql` `)} else 0 end`
}
