import { type Cancel, type Clock, within } from '../runtime/clock.ts'

/**
 * The minimum time between two writes of all usage. Observed contexts are always written after this
 * time, because their number in each write is limited.
 */
const GATHER_MS = 1000

/** The maximum time by which this time is extended if writing takes long. */
const MOST_MORE_MS = 9000

/** This maximum, as a multiple of the duration of the last write. */
const MORE_FOR_WRITING = 100

/** The usage that remains after a write: nothing, some, or counts for which there was no room in it. */
export type Remainder = 'none' | 'some' | 'many'

/** The maximum time that a stopping server waits for its last writes. */
const CLOSE_WITHIN_MS = 7000

interface WriteScheduleOptions {
  readonly clock: Clock
  /** Writes the observed contexts. Never rejects. */
  readonly writeContexts: () => Promise<void>
  /**
   * Writes all usage that is due, or everything, and resolves with the usage that remains. Never
   * rejects.
   */
  readonly writeAll: (everything: boolean) => Promise<Remainder>
}

/**
 * Schedules the writes of usage: at most once a second, and one at a time. With many flags or a slow
 * store, all usage is written less often, so that writing takes a small part of the time, and at
 * random times, so that instances that start together do not write together.
 */
export class WriteSchedule {
  readonly #options: WriteScheduleOptions
  /** The monotonic time from which all usage is written again. Until then, only contexts are. */
  #dueAt = 0
  #cancel: Cancel | undefined
  #writing: Promise<void> | undefined
  #isClosed = false

  constructor(options: WriteScheduleOptions) {
    this.#options = options
  }

  /** Schedules a write, unless one is scheduled. */
  arm(delayMs = GATHER_MS): void {
    if (this.#cancel !== undefined || this.#isClosed) return
    this.#cancel = this.#options.clock.schedule(delayMs, () => {
      this.#cancel = undefined
      if (this.#writing === undefined) void this.#write(false)
      else this.arm()
    })
  }

  /** Writes everything. Resolves when the attempt has ended, even if it failed. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
    await this.#write(true)
  }

  /** Writes everything within a limited time. Nothing is scheduled afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    await within(this.flush(), { clock: this.#options.clock, ms: CLOSE_WITHIN_MS })
  }

  /** Must not be called while another write is in progress. */
  #write(everything: boolean): Promise<void> {
    const { clock } = this.#options
    const isDue = everything || clock.monotonicNow() >= this.#dueAt
    const writing = isDue ? this.#writeAll(everything) : this.#writeContexts()
    this.#writing = writing.finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeContexts(): Promise<void> {
    const { clock, writeContexts } = this.#options
    const leftMs = this.#dueAt - clock.monotonicNow()
    await writeContexts()
    this.arm(Math.min(GATHER_MS, leftMs))
  }

  async #writeAll(everything: boolean): Promise<void> {
    const { clock, writeAll } = this.#options
    const startedAt = clock.monotonicNow()
    const remainder = await writeAll(everything)
    const now = clock.monotonicNow()
    const writingMs = now - startedAt
    const mostMore = Math.min(MOST_MORE_MS, MORE_FOR_WRITING * writingMs)
    // While counts remain because one write takes only a part of them, writing takes half of the time.
    const pauseMs =
      remainder === 'many'
        ? Math.max(GATHER_MS, Math.min(MOST_MORE_MS, writingMs))
        : GATHER_MS + Math.random() * mostMore
    this.#dueAt = now + pauseMs
    if (remainder !== 'none') this.arm()
  }
}
