import type { Cancel, Clock } from '../runtime/clock.ts'
import { inNextTurn, TimeSlice } from '../runtime/time-slice.ts'

/** How much later than asked for something may fall due. */
export const TICK_MS = 50

/** Something that a timer wheel runs, unless it is cancelled. */
export interface Due {
  fallDue(): void
}

/**
 * One timer of a clock for many items, each of which may be a little late. Items that fall due
 * together run in time slices. Setting the clock back delays nothing.
 */
export class TimerWheel {
  readonly #clock: Clock
  readonly #byTick = new Map<number, Set<Due>>()
  #lastTime = Number.NEGATIVE_INFINITY
  #setBackMs = 0
  /** The tick that the timer waits for. */
  #next = Number.POSITIVE_INFINITY
  #cancelTimer: Cancel | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Lets an item fall due once. Returns when, in ticks. */
  add(due: Due, delayMs: number): number {
    const time = this.#time()
    const tick = Math.ceil((time + delayMs) / TICK_MS)
    const all = this.#byTick.get(tick) ?? new Set()
    this.#byTick.set(tick, all.add(due))
    if (tick < this.#next) this.#arm(tick)
    // The clock was set forward.
    else if (this.#next * TICK_MS < time) this.#arm(this.#next)
    return tick
  }

  /** `tick` is the result of `add`. */
  cancel(due: Due, tick: number): void {
    const all = this.#byTick.get(tick)
    if (all?.delete(due) !== true || all.size > 0) return
    this.#byTick.delete(tick)
    if (tick === this.#next) this.#armForFirst()
  }

  /** The clock's time, as if it had stood still when it was set back. */
  #time(): number {
    const now = this.#clock.now()
    this.#setBackMs = Math.max(this.#setBackMs, this.#lastTime - now)
    this.#lastTime = now + this.#setBackMs
    return this.#lastTime
  }

  #armForFirst(): void {
    let first = Number.POSITIVE_INFINITY
    for (const tick of this.#byTick.keys()) if (tick < first) first = tick
    this.#arm(first)
  }

  #arm(tick: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#next = tick
    if (tick === Number.POSITIVE_INFINITY) return
    const delayMs = Math.max(0, tick * TICK_MS - this.#time())
    this.#cancelTimer = this.#clock.schedule(delayMs, () => this.#run())
  }

  #run(): void {
    const slice = new TimeSlice()
    const isAllDone = this.#runDue(slice)
    if (isAllDone) this.#armForFirst()
    else inNextTurn(() => this.#run())
  }

  #runDue(slice: TimeSlice): boolean {
    const now = Math.max(this.#next, Math.floor(this.#time() / TICK_MS))
    for (const [tick, all] of this.#byTick) {
      if (tick > now) continue
      for (const due of all) {
        if (!slice.take()) return false
        this.cancel(due, tick)
        due.fallDue()
      }
    }
    return true
  }
}
