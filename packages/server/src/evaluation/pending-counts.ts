import type { EvaluationCount, Storage } from '@ff/storage'

/** How many rows wait at most; what would need more is dropped. */
const MAX_ROWS = 20_000

/** How many rows are written at once. */
const ROWS_A_CALL = 250

/** Counted evaluations on their way to the store: one row for each outcome and minute. */
export class PendingCounts {
  #rows = new Map<string, EvaluationCount>()
  #dropped = 0

  /** How many rows wait. */
  get size(): number {
    return this.#rows.size
  }

  /** How many evaluations will never be written, because there was no room for them. */
  get dropped(): number {
    return this.#dropped
  }

  add(row: EvaluationCount): void {
    const name = nameOf(row)
    const known = this.#rows.get(name)
    if (known !== undefined) {
      const { count, micros } = known
      this.#rows.set(name, { ...row, count: count + row.count, micros: micros + row.micros })
    } else if (this.#rows.size < MAX_ROWS) this.#rows.set(name, row)
    else this.#dropped += row.count
  }

  /** Writes what waits. What cannot be written waits again, as far as there is room. */
  async write(storage: Storage): Promise<void> {
    const rows = this.#rows
    this.#rows = new Map()
    const entries = [...rows]
    for (let start = 0; start < entries.length; start += ROWS_A_CALL) {
      const batch = entries.slice(start, start + ROWS_A_CALL)
      try {
        await storage.addEvaluationCounts(batch.map(([, row]) => row))
      } catch (error) {
        // What came meanwhile is little beside what may have gathered.
        const meanwhile = this.#rows
        this.#rows = rows
        for (const row of meanwhile.values()) this.add(row)
        throw error
      }
      for (const [name] of batch) rows.delete(name)
    }
  }
}

function nameOf(row: EvaluationCount): string {
  const { environmentId, flagId, minute, variationId, reason, source } = row
  return `${environmentId} ${flagId} ${minute} ${variationId} ${reason} ${source}`
}
