import { isFlagError } from '@ff/core'
import type { Logger } from '../runtime/logger.ts'

/** How one kind of usage is gathered and written. */
interface BatchOptions<Row> {
  /** Rows of an environment with one name are merged. */
  readonly nameOf: (row: Row) => string
  /** Adds a later row to an earlier one. */
  readonly merge: (earlier: Row, later: Row) => Row
  /** The most rows, those being written included. */
  readonly maxRows: number
  /** The memory that they may take, and that a row takes; unlimited by default. */
  readonly memory?: { readonly maxBytes: number; readonly bytesOf: (row: Row) => number }
  /** The most rows of one call of `write`. */
  readonly rowsACall: number
  /**
   * Writes all of these rows or, if it rejects, none. Returns the rows, if any, that nothing can be
   * written for, because their environment does not exist.
   */
  readonly write: (rows: readonly Row[]) => Promise<readonly Row[] | undefined>
  /** Receives a row that is dropped; returns how much usage it stands for. */
  readonly drop: (row: Row) => number
  readonly logger: Logger
}

/**
 * Rows of usage that wait for the store, up to a limit. If there is no room, a row of the environment
 * with the most rows gives way to one of an environment with fewer; otherwise the new row is dropped.
 * Rows that are being written do not give way.
 */
export class BatchBuffer<Row extends { readonly environmentId: string }> {
  readonly #options: BatchOptions<Row>
  /** By environment and name. */
  #pending = new Map<string, Map<string, Row>>()
  readonly #writing = new Set<Row>()
  #size = 0
  #bytes = 0
  #dropped = 0
  /** Why the store refused rows the last time. */
  #reason: string | undefined

  constructor(options: BatchOptions<Row>) {
    this.#options = options
  }

  /** How many rows there are, those being written included. */
  get size(): number {
    return this.#size
  }

  /** How much usage was dropped: there was no room, the store refused it, or its owner is gone. */
  get dropped(): number {
    return this.#dropped
  }

  /** Returns a row that is not being written. */
  find(environmentId: string, name: string): Row | undefined {
    return this.#pending.get(environmentId)?.get(name)
  }

  /** Adds a row or drops it. */
  add(row: Row): void {
    const { nameOf } = this.#options
    const isKnown = this.find(row.environmentId, nameOf(row)) !== undefined
    if (isKnown || this.#makeRoom(row)) this.#put(row)
    else this.#dropped += this.#options.drop(row)
  }

  /**
   * Writes the rows in batches. A batch that the store refuses because of its data
   * (`INVALID_REQUEST`) is halved until the rows at fault are found: they are dropped, and all others
   * are written. Each reason for that is logged when it is another one than the last. Rejects as soon
   * as a batch fails for another reason; rows that are neither written nor dropped stay.
   */
  async flush(): Promise<void> {
    const rows = [...this.#pending.values()].flatMap((named) => [...named.values()])
    this.#pending = new Map()
    for (const row of rows) this.#writing.add(row)
    const { rowsACall } = this.#options
    for (let start = 0; start < rows.length; start += rowsACall) {
      const batch = rows.slice(start, start + rowsACall)
      try {
        await this.#write(batch)
      } catch (error) {
        this.#putBack(batch)
        throw error
      }
    }
  }

  async #write(batch: readonly Row[]): Promise<void> {
    try {
      for (const row of (await this.#options.write(batch)) ?? []) this.#drop(row)
      for (const row of batch) if (this.#writing.delete(row)) this.#release(row)
      return
    } catch (error) {
      if (!isFlagError(error) || error.code !== 'INVALID_REQUEST') throw error
      this.#report(error)
    }
    if (batch.length === 1) {
      for (const row of batch) this.#drop(row)
      return
    }
    const middle = Math.ceil(batch.length / 2)
    await this.#write(batch.slice(0, middle))
    await this.#write(batch.slice(middle))
  }

  /** What failed goes behind the rows that were not tried, so that it does not hold them up. */
  #putBack(failed: readonly Row[]): void {
    const left = failed.filter((row) => this.#writing.delete(row))
    const rows = [...this.#writing, ...left]
    const later = [...this.#pending.values()].flatMap((named) => [...named.values()])
    this.#writing.clear()
    this.#pending = new Map()
    for (const row of [...rows, ...later]) {
      this.#release(row)
      this.#put(row)
    }
  }

  #put(row: Row): void {
    const { nameOf, merge, memory } = this.#options
    const named = this.#pending.get(row.environmentId) ?? new Map<string, Row>()
    const name = nameOf(row)
    const known = named.get(name)
    if (known !== undefined) this.#release(known)
    const merged = known === undefined ? row : merge(known, row)
    this.#pending.set(row.environmentId, named.set(name, merged))
    this.#size += 1
    this.#bytes += memory?.bytesOf(merged) ?? 0
  }

  #makeRoom(row: Row): boolean {
    while (!this.#hasRoomFor(row)) {
      let largest: Map<string, Row> = new Map()
      for (const named of this.#pending.values()) if (named.size > largest.size) largest = named
      const own = this.#pending.get(row.environmentId)?.size ?? 0
      if (largest.size <= own + 1) return false
      for (const [name, first] of largest) {
        largest.delete(name)
        this.#drop(first)
        break
      }
    }
    return true
  }

  #hasRoomFor(row: Row): boolean {
    const { maxRows, memory } = this.#options
    if (this.#size >= maxRows) return false
    return memory === undefined || this.#bytes + memory.bytesOf(row) <= memory.maxBytes
  }

  #drop(row: Row): void {
    this.#dropped += this.#options.drop(row)
    this.#writing.delete(row)
    this.#release(row)
  }

  #release(row: Row): void {
    this.#size -= 1
    this.#bytes -= this.#options.memory?.bytesOf(row) ?? 0
  }

  #report(cause: Error): void {
    const reason = String(cause)
    if (reason === this.#reason) return
    this.#reason = reason
    this.#options.logger.error('the store refused some usage, which is dropped', { cause })
  }
}
