import { isFlagError } from '@ff/core'
import type { Logger } from '../runtime/logger.ts'

interface WriteJob<T> {
  readonly rows: readonly T[]
  /** The most rows of one call. */
  readonly rowsACall: number
  /** Writes all of these rows or, if it rejects, none. */
  readonly write: (rows: readonly T[]) => Promise<void>
  /** Called for a row that the store cannot keep. */
  readonly drop: (row: T) => void
}

/**
 * Writes rows of usage in batches. A batch that the store refuses because of its data
 * (`INVALID_REQUEST`) is halved until the rows at fault are found: they are dropped, and all others
 * are written. Each reason for that is logged when it is another one than the last.
 */
export class RowWriter {
  readonly #logger: Logger
  #reason: string | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Resolves once every row is written or dropped. Rejects as soon as a batch fails for another
   * reason; the rows for which neither `write` has resolved nor `drop` was called are still to be
   * written then.
   */
  async write<T>(job: WriteJob<T>): Promise<void> {
    for (let start = 0; start < job.rows.length; start += job.rowsACall) {
      await this.#writeBatch(job.rows.slice(start, start + job.rowsACall), job)
    }
  }

  async #writeBatch<T>(batch: readonly T[], job: WriteJob<T>): Promise<void> {
    try {
      await job.write(batch)
      return
    } catch (error) {
      if (!isFlagError(error) || error.code !== 'INVALID_REQUEST') throw error
      this.#report(error)
    }
    if (batch.length === 1) {
      for (const row of batch) job.drop(row)
      return
    }
    const middle = Math.ceil(batch.length / 2)
    await this.#writeBatch(batch.slice(0, middle), job)
    await this.#writeBatch(batch.slice(middle), job)
  }

  #report(cause: Error): void {
    const reason = String(cause)
    if (reason === this.#reason) return
    this.#reason = reason
    this.#logger.error('the store refused some usage, which is dropped', { cause })
  }
}
