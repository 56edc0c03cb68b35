import { isFlagError } from '@ff/core'
import type { Logger } from '../runtime/logger.ts'
import { BySize } from './by-size.ts'

/** The options of a buffer for one kind of usage. */
interface BatchOptions<Row> {
  /** Returns the name of a row. Rows of one environment with the same name are merged. */
  readonly nameOf: (row: Row) => string
  /** Returns the sum of two rows with the same name. */
  readonly merge: (earlier: Row, later: Row) => Row
  /** The maximum number of rows, including those that are being written. */
  readonly maxRows: number
  /**
   * Functions that return a row with less detail, each less than the one before. Before a row is
   * dropped, rows that have then the same name are merged.
   */
  readonly coarser?: readonly ((row: Row) => Row)[]
  /**
   * The maximum memory of all rows, and the function that returns the memory of one row. The
   * default is unlimited.
   */
  readonly memory?: { readonly maxBytes: number; readonly bytesOf: (row: Row) => number }
  /** The maximum number of rows in one call of `write`. */
  readonly rowsACall: number
  /**
   * Writes the rows. If it rejects, no row was written. Can resolve with rows that were not written
   * because their environment does not exist.
   */
  readonly write: (rows: readonly Row[]) => Promise<readonly Row[] | undefined>
  /** Called for each dropped row. Returns the amount of usage that the row represents. */
  readonly drop: (row: Row) => number
  readonly logger: Logger
}

/** The share of rows that may be left after a merge, so that merges are rare. */
const MOST_LEFT = 0.9
/** The share of the rows that must change before a merge that freed no room is tried again. */
const RETRY_AFTER = 0.01

/** The rows of an environment that are not being written. */
interface Group<Row> {
  readonly rows: Map<string, Row>
  /** The number of rows that were added or dropped. */
  changes: number
  /** The number of changes at which a merge can free room again. */
  retryAt: number
  readonly size: number
}

function createGroup<Row>(): Group<Row> {
  const rows = new Map<string, Row>()
  return {
    ...{ rows, changes: 0, retryAt: 0 },
    get size() {
      return rows.size
    },
  }
}

/**
 * A bounded buffer of usage rows that are not yet written to the store. If the buffer is full, rows
 * of the environment with the most rows are merged if they can be. Otherwise, a
 * new row replaces a row of the environment with the most rows. If the new row's own environment
 * has the most rows, the new row is dropped. Rows that are being written are not replaced.
 */
export class BatchBuffer<Row extends { readonly environmentId: string }> {
  readonly #options: BatchOptions<Row>
  /** The rows that are not being written, by environment and name. */
  #pending = new Map<string, Group<Row>>()
  /** The pending groups by size; absent until the buffer is full. */
  #bySize: BySize<Group<Row>> | undefined
  readonly #writing = new Set<Row>()
  #size = 0
  #bytes = 0
  #dropped = 0
  /** The reason for the last refusal by the store, which was logged. */
  #reason: string | undefined

  constructor(options: BatchOptions<Row>) {
    this.#options = options
  }

  /** The number of rows, including those that are being written. */
  get size(): number {
    return this.#size
  }

  /**
   * The amount of usage that was dropped because there was no room, the store refused it, or its
   * environment does not exist.
   */
  get dropped(): number {
    return this.#dropped
  }

  /** Returns a row that is not being written; `undefined` if there is none. */
  find(environmentId: string, name: string): Row | undefined {
    return this.#pending.get(environmentId)?.rows.get(name)
  }

  /** Adds a row, or drops it if there is no room. */
  add(row: Row): void {
    const name = this.#options.nameOf(row)
    const isKnown = this.find(row.environmentId, name) !== undefined
    if (isKnown || this.#makeRoom(row)) this.#put(row, name)
    else this.#dropped += this.#options.drop(row)
  }

  /**
   * Writes the rows in batches. A batch that the store refuses because of its data
   * (`INVALID_REQUEST`) is halved until the invalid rows are found. The invalid rows are dropped,
   * and all others are written. The reason for the refusal is logged if it differs from the last
   * logged reason. Rejects when a batch fails for another reason. Rows that were neither written
   * nor dropped stay in the buffer.
   */
  async flush(): Promise<void> {
    const rows = this.#takePending()
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

  /** Removes all rows that are not being written, and returns them. */
  #takePending(): readonly Row[] {
    const rows = [...this.#pending.values()].flatMap((group) => [...group.rows.values()])
    this.#pending = new Map()
    this.#bySize = undefined
    return rows
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

  /**
   * Returns the rows of a failed flush to the buffer. The failed rows move behind the rows that
   * were not tried, so that failed rows do not block the others.
   */
  #putBack(failed: readonly Row[]): void {
    const left = failed.filter((row) => this.#writing.delete(row))
    const rows = [...this.#writing, ...left]
    const later = this.#takePending()
    this.#writing.clear()
    for (const row of [...rows, ...later]) {
      this.#release(row)
      this.#put(row)
    }
  }

  #put(row: Row, name = this.#options.nameOf(row)): void {
    const { merge, memory } = this.#options
    const group = this.#pending.get(row.environmentId) ?? createGroup<Row>()
    const known = group.rows.get(name)
    if (known !== undefined) this.#release(known)
    const merged = known === undefined ? row : merge(known, row)
    group.rows.set(name, merged)
    if (known === undefined) group.changes += 1
    this.#pending.set(row.environmentId, group)
    this.#bySize?.update(group)
    this.#size += 1
    this.#bytes += memory?.bytesOf(merged) ?? 0
  }

  #makeRoom(row: Row): boolean {
    while (!this.#hasRoomFor(row)) {
      this.#bySize ??= new BySize(this.#pending.values())
      const largest = this.#bySize.largest()
      if (largest === undefined) return false
      if (this.#merge(largest)) continue
      const own = this.#pending.get(row.environmentId)?.size ?? 0
      if (largest.size <= own + 1) return false
      for (const [name, first] of largest.rows) {
        largest.rows.delete(name)
        largest.changes += 1
        this.#bySize.update(largest)
        this.#drop(first)
        break
      }
    }
    return true
  }

  /** Merges rows of an environment with less detail. Returns `false` if this frees no room. */
  #merge(group: Group<Row>): boolean {
    const { nameOf, merge, coarser = [] } = this.#options
    const { rows } = group
    if (group.changes < group.retryAt) return false
    for (const toCoarser of coarser) {
      const merged = new Map<string, Row>()
      for (const row of rows.values()) {
        const later = toCoarser(row)
        const name = nameOf(later)
        const earlier = merged.get(name)
        merged.set(name, earlier === undefined ? later : merge(earlier, later))
      }
      if (merged.size > MOST_LEFT * rows.size) continue
      for (const row of rows.values()) this.#release(row)
      rows.clear()
      for (const [name, row] of merged) this.#put(row, name)
      return true
    }
    group.retryAt = group.changes + RETRY_AFTER * rows.size
    return false
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
    this.#options.logger.error('The store refused some usage, which was dropped', { cause })
  }
}
