import type { RateLimiter, RateWindow } from '../ports/rate-limiter.ts'
import { plain, type SqlStatement } from '../sql/sql-driver.ts'
import { PeriodicRemoval } from './periodic-removal.ts'
import type { PostgresDriver } from './postgres-driver.ts'

/**
 * The statement that creates the table of the rate limiter. The table is unlogged, because its rows
 * matter only for one window: a crash of the database removes them. `leased` is the number of
 * requests that the last lease was granted.
 */
export const RATE_WINDOW_TABLE = `create unlogged table if not exists ff_rate_window (
  name text collate "C" not null, started_at bigint not null, length_ms bigint not null,
  granted bigint not null, leased bigint not null, primary key (name, started_at, length_ms))`

/** The grant of a lease, up to the limit. A window without free requests is not written. */
const LEASE = `
  insert into ff_rate_window as present (name, started_at, length_ms, granted, leased)
  values ($1, $2, $3, least($4::bigint, $5::bigint), least($4::bigint, $5::bigint))
  on conflict (name, started_at, length_ms) do update set
    granted = present.granted + least($4::bigint, $5::bigint - present.granted),
    leased = least($4::bigint, $5::bigint - present.granted)
  where present.granted < $5::bigint
  returning leased`

/** Removes windows that ended some time ago by the clock of the database. */
const REMOVE_ENDED = plain(`
  delete from ff_rate_window
  where started_at + length_ms < extract(epoch from now() - interval '10 minutes') * 1000`)

/** A rate limiter for all processes with the same database. Each lease is one statement. */
export class PostgresRateLimiter implements RateLimiter {
  readonly #driver: PostgresDriver
  readonly #removal = new PeriodicRemoval(REMOVE_ENDED)

  constructor(driver: PostgresDriver) {
    this.#driver = driver
  }

  async lease(key: string, window: RateWindow, amount: number): Promise<number> {
    const { limit, startedAt, lengthMs } = window
    if (limit <= 0 || amount <= 0) return 0
    const lease: SqlStatement = {
      sql: LEASE,
      parameters: [key, startedAt, lengthMs, amount, limit],
    }
    const [rows] = await this.#driver.write([lease, ...this.#removal.due()])
    return Number(rows?.[0]?.leased ?? 0)
  }
}
