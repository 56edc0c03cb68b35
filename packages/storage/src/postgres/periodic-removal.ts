import type { SqlStatement } from '../sql/sql-driver.ts'

/** The time between two removals by one process. */
const INTERVAL_MS = 60_000

/** A statement that removes old rows. It is sent with other statements, at most once a minute. */
export class PeriodicRemoval {
  readonly #statement: SqlStatement
  #sentAt = Number.NEGATIVE_INFINITY

  constructor(statement: SqlStatement) {
    this.#statement = statement
  }

  /** Returns the statement if it is due; otherwise nothing. */
  due(): readonly SqlStatement[] {
    const now = performance.now()
    if (now - this.#sentAt < INTERVAL_MS) return []
    this.#sentAt = now
    return [this.#statement]
  }
}
