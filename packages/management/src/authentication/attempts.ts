import { FlagError } from '@ff/core'
import type { Clock } from '@ff/server/plane'

const WINDOW_MS = 15 * 60_000

/** The maximum number of different names in one window. */
const MOST_NAMES = 20_000

interface AttemptsOptions {
  readonly clock: Clock
  /** The maximum number of attempts per name and window. */
  readonly limit: number
  /**
   * The treatment of a new name when the table is full. By default, the new name is refused until
   * the window ends. Otherwise, a caller that can invent names could displace an earlier name and
   * use its attempts again. Use `forget oldest` for names that callers cannot invent.
   */
  readonly whenFull?: 'refuse' | 'forget oldest'
}

/** Counts attempts by name, in windows of 15 minutes, within bounded memory. */
export class Attempts {
  readonly #options: AttemptsOptions
  /** Attempts by name, the oldest name first. */
  readonly #counts = new Map<string, number>()
  #startedAt = 0

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /** Throws `RATE_LIMITED` if the name has no attempts left. */
  assertLeft(name: string): void {
    const { clock, limit, whenFull } = this.#options
    const now = clock.now()
    const { startedAt } = attemptsWindowAt(now)
    if (startedAt !== this.#startedAt) {
      this.#startedAt = startedAt
      this.#counts.clear()
    }
    const isFull = this.#counts.size >= MOST_NAMES && whenFull !== 'forget oldest'
    const used = this.#counts.get(name) ?? (isFull ? limit : 0)
    if (used < limit) return
    throw tooManyAttempts(Math.ceil((startedAt + WINDOW_MS - now) / 1000))
  }

  /** Counts an attempt. Throws `RATE_LIMITED` if the name has no attempts left. */
  take(name: string): void {
    this.assertLeft(name)
    this.#set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Takes all attempts that the name has left. */
  exhaust(name: string): void {
    this.#set(name, this.#options.limit)
  }

  /** Removes the count of an attempt that has succeeded. */
  giveBack(name: string): void {
    const used = this.#counts.get(name) ?? 0
    if (used > 1) this.#counts.set(name, used - 1)
    else this.#counts.delete(name)
  }

  #set(name: string, used: number): void {
    this.#counts.set(name, used)
    if (this.#counts.size <= MOST_NAMES) return
    const [oldest] = this.#counts.keys()
    if (oldest !== undefined) this.#counts.delete(oldest)
  }
}

/** Returns the window of a time. Windows start at multiples of their length. */
export function attemptsWindowAt(now: number): {
  readonly startedAt: number
  readonly lengthMs: number
} {
  return { startedAt: now - (now % WINDOW_MS), lengthMs: WINDOW_MS }
}

/**
 * Returns the error for a refused attempt. `seconds` is the time until the next attempt is allowed.
 */
export function tooManyAttempts(seconds: number): FlagError {
  const message = 'There were too many attempts. Wait before you try again.'
  return new FlagError('RATE_LIMITED', message, { details: { seconds } })
}
