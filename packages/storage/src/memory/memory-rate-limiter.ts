import type { RateLimiter, RateWindow } from '../ports/rate-limiter.ts'

interface WindowUsage {
  /** The end of the window in epoch milliseconds. */
  readonly endsAt: number
  /** The number of granted requests, by key. */
  readonly granted: Map<string, number>
}

/** A rate limiter for one process. It discards windows that have ended. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #windows = new Map<string, WindowUsage>()

  async lease(key: string, window: RateWindow, amount: number): Promise<number> {
    const { granted } = this.#usageOf(window)
    const used = granted.get(key) ?? 0
    const grant = Math.max(0, Math.min(amount, window.limit - used))
    granted.set(key, used + grant)
    return grant
  }

  #usageOf({ startedAt, lengthMs }: RateWindow): WindowUsage {
    const name = `${startedAt} ${lengthMs}`
    const known = this.#windows.get(name)
    if (known !== undefined) return known
    for (const [other, { endsAt }] of this.#windows) {
      if (endsAt <= startedAt) this.#windows.delete(other)
    }
    const usage = { endsAt: startedAt + lengthMs, granted: new Map<string, number>() }
    this.#windows.set(name, usage)
    return usage
  }
}
