import { FlagError } from '@ff/core'
import type { Clock } from '../clock.ts'

const WINDOW_MS = 15 * 60_000

/**
 * How many different names one window remembers. More are refused until its end: forgetting some
 * would give whoever tries enough names their attempts back.
 */
const MOST_NAMES = 20_000

interface AttemptsParts {
  readonly clock: Clock
  /** Attempts that each name has in a window. */
  readonly limit: number
}

/** Counts attempts by name, in windows of a quarter of an hour, within bounded memory. */
export class Attempts {
  readonly #clock: Clock
  readonly #limit: number
  readonly #counts = new Map<string, number>()
  #endsAt = Number.NEGATIVE_INFINITY

  constructor({ clock, limit }: AttemptsParts) {
    this.#clock = clock
    this.#limit = limit
  }

  /** Throws `RATE_LIMITED` when the name has no attempts left. */
  take(name: string): void {
    const now = this.#clock.now()
    if (now >= this.#endsAt || now < this.#endsAt - WINDOW_MS) {
      this.#endsAt = now + WINDOW_MS
      this.#counts.clear()
    }
    const used = this.#counts.get(name) ?? (this.#counts.size < MOST_NAMES ? 0 : this.#limit)
    if (used >= this.#limit) throw tooManyAttempts(Math.ceil((this.#endsAt - now) / 1000))
    this.#counts.set(name, used + 1)
  }

  /** The attempt was a good one: as if it had not been made. */
  giveBack(name: string): void {
    const used = this.#counts.get(name) ?? 0
    if (used > 1) this.#counts.set(name, used - 1)
    else this.#counts.delete(name)
  }
}

function tooManyAttempts(seconds: number): FlagError {
  const message = 'Too many attempts; wait before you try again.'
  return new FlagError('RATE_LIMITED', message, { details: { seconds } })
}
