import type { Clock } from '../src/index.ts'

interface Timer {
  readonly at: number
  readonly task: () => void
}

/** A time that passes only when a test calls `advance`. */
export class FakeTime implements Clock {
  #elapsed = 0
  #wall = Date.parse('2030-01-01T00:00:00.000Z')
  readonly #timers = new Set<Timer>()

  now(): number {
    return this.#wall + this.#elapsed
  }

  monotonicNow(): number {
    return this.#elapsed
  }

  /** The number of scheduled timers. */
  get timers(): number {
    return this.#timers.size
  }

  /** Changes the system clock, as a user does. */
  skew(ms: number): void {
    this.#wall += ms
  }

  schedule(delayMs: number, task: () => void): () => void {
    const timer = { at: this.#elapsed + Math.max(0, delayMs), task }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Lets time pass, and runs each timer at its time. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    await settle()
    for (let due = this.#due(end); due !== undefined; due = this.#due(end)) {
      this.#elapsed = Math.max(this.#elapsed, due.at)
      this.#timers.delete(due)
      due.task()
      await settle()
    }
    this.#elapsed = end
  }

  #due(end: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer
    }
    return first
  }
}

/** Waits until all work that needs no timer is done. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 24; turn += 1) await Promise.resolve()
}

/** Returns a generator of random numbers that is the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
