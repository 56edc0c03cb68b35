import { type RawBuilder, sql } from 'kysely'
import type { LeaseClaim, LeaseHolder } from '../ports/leases.ts'
import type { SqlDialect } from './dialect.ts'
import type { SqlStatement } from './sql-driver.ts'
import { toStatement } from './statement-templates.ts'

/** The statements of leases. The database determines the time. */
export class LeaseStatements {
  readonly #dialect: SqlDialect

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect
  }

  /** Takes or extends a lease and returns one row. Returns no row if another holder has the lease. */
  claim({ name, holder, forMs }: LeaseClaim): SqlStatement {
    const { nowMs } = this.#dialect
    return this.#statement(sql`
      insert into ff_lease (name, holder, expires_at)
      values (${name}, ${holder}, ${nowMs} + cast(${Math.round(forMs)} as bigint))
      on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
      where ff_lease.holder = excluded.holder or ff_lease.expires_at <= ${nowMs}
      returning name`)
  }

  /** Selects the holder of a lease. Returns no row if the lease is free or has expired. */
  find(name: string): SqlStatement {
    const { nowMs } = this.#dialect
    return this.#statement(
      sql`select holder from ff_lease where name = ${name} and expires_at > ${nowMs}`,
    )
  }

  /**
   * Returns the statements that give a lease to a holder for ever, and end all other leases, of
   * which the instances of another store are the holders.
   */
  replaceAll({ name, holder }: LeaseHolder): readonly SqlStatement[] {
    return [
      this.#statement(sql`delete from ff_lease`),
      this.#statement(sql`
        insert into ff_lease (name, holder, expires_at)
        values (${name}, ${holder}, cast(${Number.MAX_SAFE_INTEGER} as bigint))`),
    ]
  }

  release({ name, holder }: LeaseHolder): SqlStatement {
    return this.#statement(sql`delete from ff_lease where name = ${name} and holder = ${holder}`)
  }

  #statement(query: RawBuilder<unknown>): SqlStatement {
    return toStatement(query.compile(this.#dialect.builder))
  }
}
