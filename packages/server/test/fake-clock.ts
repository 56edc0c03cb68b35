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

/** The number of calls of `settle` that wait for their next turn of the event loop. */
let settling = 0

/**
 * Waits for at least 20 turns of the event loop, until no work is left for the next turn. Long work
 * runs in time slices, so that the number of its turns depends on the speed of the machine.
 */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20 || (turn < MOST_TURNS && isWorkLeft()); turn += 1) {
    settling += 1
    await new Promise((resolve) => setImmediate(resolve))
    settling -= 1
  }
}

/** The limit of turns, for a test whose own tasks never end while it waits. */
const MOST_TURNS = 10_000

/** Returns `true` if other code waits for the next turn of the event loop. */
function isWorkLeft(): boolean {
  const immediates = process.getActiveResourcesInfo().filter((type) => type === 'Immediate')
  return immediates.length > settling
}

/** Waits in real time until a condition is true. Throws after a minute, so that no test hangs. */
export async function until(hasHappened: () => boolean): Promise<void> {
  for (const start = Date.now(); !hasHappened(); await settle()) {
    if (Date.now() - start > 60_000)
      throw new Error('The condition did not become true within a minute')
  }
}
