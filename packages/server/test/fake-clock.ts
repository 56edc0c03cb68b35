import type { Cancel, Clock } from '../src/runtime/clock.ts'

interface Timer {
  readonly at: number
  readonly task: () => void
}

/** A clock that advances only when a test calls `advance` or `set`. */
export class FakeClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(now = Date.parse('2030-01-01T00:00:00.000Z')) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  monotonicNow(): number {
    return this.#now
  }

  /** The number of scheduled timers. */
  get timers(): number {
    return this.#timers.size
  }

  schedule(delayMs: number, task: () => void): Cancel {
    const timer = { at: this.#now + Math.max(0, delayMs), task }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Advances the time and runs each timer that becomes due, at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (let due = this.#due(end); due !== undefined; due = this.#due(end)) {
      this.#now = Math.max(this.#now, due.at)
      this.#timers.delete(due)
      due.task()
      await settle()
    }
    this.#now = end
    await settle()
  }

  /** Sets the time without running timers, as when the system clock is changed. */
  set(now: number): void {
    this.#now = now
  }

  #due(end: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer
    }
    return first
  }
}

/** Waits for several turns of the event loop, until all work that needs no timer is done. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Waits in real time until a condition is true. Throws after a minute, so that no test hangs. */
export async function until(hasHappened: () => boolean): Promise<void> {
  for (const start = Date.now(); !hasHappened(); await settle()) {
    if (Date.now() - start > 60_000)
      throw new Error('The condition did not become true within a minute')
  }
}
