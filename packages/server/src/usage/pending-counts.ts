import type { EvaluationCount, Storage } from '@ff/storage'
import type { RowWriter } from './row-writer.ts'

/** The most pending rows, those being written included; further counts are dropped. */
const MAX_ROWS = 20_000

/** How many rows are written at once. */
const ROWS_A_CALL = 250

/** Counts that are not written yet: one row for each outcome and minute. */
export class PendingCounts {
  readonly #writer: RowWriter
  #rows = new Map<string, EvaluationCount>()
  /** The rows that are being written. */
  #writing = new Map<string, EvaluationCount>()
  #dropped = 0

  constructor(writer: RowWriter) {
    this.#writer = writer
  }

  /** How many rows are pending, those being written included. */
  get size(): number {
    return this.#rows.size + this.#writing.size
  }

  /** How many evaluations were dropped: there was no room, or the store refused their row. */
  get dropped(): number {
    return this.#dropped
  }

  add(row: EvaluationCount): void {
    const name = nameOf(row)
    const known = this.#rows.get(name)
    if (known !== undefined) {
      const { count, micros } = known
      this.#rows.set(name, { ...row, count: count + row.count, micros: micros + row.micros })
    } else if (this.size < MAX_ROWS) this.#rows.set(name, row)
    else this.#dropped += row.count
  }

  /** Writes the pending rows. If the store is unavailable, those that are not written stay pending. */
  async write(storage: Storage): Promise<void> {
    const writing = this.#rows
    this.#writing = writing
    this.#rows = new Map()
    try {
      await this.#writer.write({
        rows: [...writing],
        rowsACall: ROWS_A_CALL,
        write: async (batch) => {
          await storage.addEvaluationCounts(batch.map(([, row]) => row))
          for (const [name] of batch) writing.delete(name)
        },
        drop: ([name, { count }]) => {
          writing.delete(name)
          this.#dropped += count
        },
      })
    } catch (error) {
      // The rows of the meantime are few compared with those that may have gathered.
      const meanwhile = this.#rows
      this.#rows = writing
      this.#writing = new Map()
      for (const row of meanwhile.values()) this.add(row)
      throw error
    }
  }
}

function nameOf(row: EvaluationCount): string {
  const { environmentId, flagId, minute, variationId, reason, source } = row
  return `${environmentId} ${flagId} ${minute} ${variationId} ${reason} ${source}`
}
