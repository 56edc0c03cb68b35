import type { StoreTime } from '@ff/storage'
import { type Cancel, type Clock, within } from './clock.ts'
import type { Logger } from './logger.ts'

/** The interval at which the times are compared. */
const COMPARE_EVERY_MS = 5000
/** The maximum time that the start of a server waits for the first comparison. */
const START_WITHIN_MS = 1000
/** The time by which two right clocks may differ, in addition to the duration of the call. */
const TOLERANCE_MS = 20
/** The difference from which on the clock of the machine is reported as wrong. */
const REPORTED_MS = 5000

interface StoreClockOptions {
  /** The clock of the machine. */
  readonly clock: Clock
  readonly storeTime: StoreTime
  readonly logger: Logger
}

/**
 * The clock of this machine, set to the time of the store. All instances with one store therefore
 * agree on the time, whatever the clocks of their machines show: on the windows of rate limits, on
 * when a change is due, and on when a key has expired. While the store is unavailable, the last
 * difference is used.
 */
export class StoreClock implements Clock {
  readonly #options: StoreClockOptions
  /** The milliseconds by which the store is ahead of this machine; negative if it is behind. */
  #offsetMs = 0
  #isReported = false
  #comparing: Promise<void> | undefined
  #cancelNext: Cancel | undefined
  #isStopped = false

  constructor(options: StoreClockOptions) {
    this.#options = options
  }

  now(): number {
    return this.#options.clock.now() + this.#offsetMs
  }

  monotonicNow(): number {
    return this.#options.clock.monotonicNow()
  }

  schedule(delayMs: number, task: () => void): Cancel {
    return this.#options.clock.schedule(delayMs, task)
  }

  /**
   * Compares the times now and periodically. Resolves after the first comparison, or after a second.
   * Never rejects. Has no further effect if it is called again.
   */
  async start(): Promise<void> {
    this.#comparing ??= this.#comparePeriodically()
    await within(this.#comparing, { clock: this.#options.clock, ms: START_WITHIN_MS })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelNext?.()
  }

  async #comparePeriodically(): Promise<void> {
    // A store that is unavailable is reported elsewhere.
    await this.#compare().catch(() => undefined)
    if (this.#isStopped) return
    const { clock } = this.#options
    this.#cancelNext = clock.schedule(COMPARE_EVERY_MS, () => void this.#comparePeriodically())
  }

  async #compare(): Promise<void> {
    const { clock, storeTime } = this.#options
    const [begunAt, begun] = [clock.now(), clock.monotonicNow()]
    const time = await storeTime.now()
    // The store has read its clock at some moment of the call.
    const half = (clock.monotonicNow() - begun) / 2
    const offsetMs = time - (begunAt + half)
    if (Math.abs(offsetMs - this.#offsetMs) <= half + TOLERANCE_MS) return
    this.#offsetMs = Math.round(offsetMs)
    this.#report()
  }

  /** Logs a wrong clock once, until it is right again. */
  #report(): void {
    const { logger } = this.#options
    const isWrong = Math.abs(this.#offsetMs) > REPORTED_MS
    if (isWrong === this.#isReported) return
    this.#isReported = isWrong
    if (!isWrong) {
      logger.info('The clock of this machine agrees with that of the database again')
      return
    }
    const seconds = Math.round(Math.abs(this.#offsetMs) / 1000)
    const difference = this.#offsetMs > 0 ? 'behind' : 'ahead of'
    logger.warn(
      `The clock of this machine is ${seconds} s ${difference} that of the database, whose time is used. Synchronize the clocks`,
    )
  }
}
