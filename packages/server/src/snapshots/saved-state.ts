import type { Snapshots } from '@ff/storage'
import type { Cancel, Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'

/** The time after a change at which it is saved, together with other changes of this time. */
const SAVE_SOON_MS = 1000
/** The maximum share of time for saving, if there are many changes in a row. */
const BUSY_SHARE = 0.05
/** The minimum time between two confirmations of the same snapshot. */
const CONFIRM_EVERY_MS = 60_000
/** The time after which an unconfirmed snapshot is removed. */
const KEPT_MS = 7 * 24 * 3_600_000

/** A saved value. */
export interface Saved<T> {
  readonly value: T
  /** The last time at which the value was up to date, in epoch milliseconds. */
  readonly confirmedAt: number
}

interface SavedStateOptions {
  /** Where the state is saved; absent to save nothing. */
  readonly snapshots?: Snapshots | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Saves the state from which a server starts while its store is unavailable. Values are JSON. No
 * method rejects: the server works without this state, and failures are logged.
 */
export class SavedState {
  readonly #options: SavedStateOptions
  /** The values that will be saved, by name. */
  readonly #pending = new Map<string, () => Iterable<string>>()
  readonly #confirmedAt = new Map<string, number>()
  #cancel: Cancel | undefined
  #saving: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor(options: SavedStateOptions) {
    this.#options = options
  }

  /** Returns a saved value; `undefined` if there is none, or it cannot be used. */
  async load<T>(name: string): Promise<Saved<T> | undefined> {
    const { snapshots, logger } = this.#options
    try {
      const saved = await snapshots?.load(name)
      if (saved === undefined) return undefined
      return { value: JSON.parse(saved.text), confirmedAt: saved.confirmedAt }
    } catch (cause) {
      logger.error('A snapshot is ignored', { name, cause })
      return undefined
    }
  }

  /** Saves a value soon. `parts` returns the parts of its JSON text at that time. */
  save(name: string, parts: () => Iterable<string>): void {
    if (this.#options.snapshots === undefined) return
    this.#pending.set(name, parts)
    this.#saveAfter(SAVE_SOON_MS)
  }

  /** Notes that the saved value with this name is up to date. */
  confirm(name: string): void {
    const { snapshots, clock } = this.#options
    const now = clock.now()
    const last = this.#confirmedAt.get(name)
    if (snapshots === undefined || this.#pending.has(name)) return
    if (last !== undefined && Math.abs(now - last) < CONFIRM_EVERY_MS) return
    this.#confirmedAt.set(name, now)
    void this.#attempt(() => snapshots.confirm([name], now))
  }

  /** Removes what no server has confirmed for a week, such as the flags of unused environments. */
  async removeUnused(): Promise<void> {
    const { snapshots, clock } = this.#options
    await this.#attempt(async () => snapshots?.removeUnconfirmed(clock.now() - KEPT_MS))
  }

  /** Saves the values that are not saved yet. */
  async close(): Promise<void> {
    this.#cancel?.()
    await this.#saving
    await this.#saveAll()
  }

  #saveAfter(delayMs: number): void {
    if (this.#cancel !== undefined) return
    this.#cancel = this.#options.clock.schedule(delayMs, () => {
      this.#saving = this.#saveAll().then((tookMs) => {
        this.#cancel = undefined
        if (this.#pending.size > 0) this.#saveAfter(Math.max(SAVE_SOON_MS, tookMs / BUSY_SHARE))
      })
    })
  }

  /** Saves all pending values and resolves with the duration in milliseconds. */
  async #saveAll(): Promise<number> {
    const { snapshots, clock } = this.#options
    const begunAt = clock.monotonicNow()
    const pending = [...this.#pending]
    this.#pending.clear()
    for (const [name, parts] of pending) {
      this.#confirmedAt.set(name, clock.now())
      await this.#attempt(async () => snapshots?.save(name, parts()))
    }
    return clock.monotonicNow() - begunAt
  }

  /** Does something with the snapshots, and logs the first of several failures in a row. */
  async #attempt(task: () => Promise<void>): Promise<void> {
    const { logger } = this.#options
    try {
      await task()
      if (this.#isFailing) logger.info('Snapshots can be saved again')
      this.#isFailing = false
    } catch (cause) {
      if (!this.#isFailing) logger.error('Snapshots cannot be saved', { cause })
      this.#isFailing = true
    }
  }
}
