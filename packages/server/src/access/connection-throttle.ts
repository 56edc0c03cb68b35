import { FlagError } from '@ff/core'
import type { Clock } from '../runtime/clock.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { type RequestLimiter, tooManyRequests } from './rate-limit.ts'
import type { EnvironmentScope } from './sdk-keys.ts'

interface ConnectionThrottleOptions {
  readonly clock: Clock
  /** How many clients may connect in a second. */
  readonly perSecond: number
}

/** The longest delay, in seconds, that is given as a place in the queue. */
const MAX_DELAY_SECONDS = 60

/** The largest share of one organization. */
const SHARE_OF_ONE = 0.75

/**
 * Limits how many clients connect in a second, and at once to a quarter of that. One organization
 * gets at most three quarters of both, so that its clients leave room for others. A refused client
 * gets a place in a queue that is only counted: many clients come back spread out, in the order of
 * arrival.
 */
export class ConnectionThrottle {
  readonly #clock: Clock
  readonly #all: Line
  /** Bounded by the organizations that have a valid SDK key. */
  readonly #byOrganization = new Map<string, Line>()
  readonly #perSecond: number

  constructor({ clock, perSecond }: ConnectionThrottleOptions) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#all = new Line(perSecond, burstOf(perSecond), clock.now())
  }

  /**
   * Lets a client with this key connect, and takes one request from the key's window. Throws
   * `RATE_LIMITED` as `overloaded` if too many clients connect, which takes nothing from the window;
   * without it if the window is used up.
   */
  async admit(scope: EnvironmentScope, limiter: RequestLimiter): Promise<void> {
    const seconds = this.take(scope.organizationId)
    if (seconds > 0) throw overloaded('The server is overloaded; connect again later.', seconds)
    const permit = await limiter.take(scope)
    if (permit.granted) return
    this.giveBack(scope.organizationId)
    throw tooManyRequests({ seconds: Number(permit.retryAfter) })
  }

  /** Lets a client of the organization connect: 0; otherwise after how many whole seconds to try again. */
  take(organizationId: string): number {
    const one = this.#lineOf(organizationId)
    const now = this.#clock.now()
    const lines = [one, this.#all]
    for (const line of lines) line.count(now)
    const full = lines.find((line) => !line.hasPermit)
    if (full !== undefined) return full.queue()
    for (const line of lines) line.take()
    return 0
  }

  /** Returns a permit that was not used. */
  giveBack(organizationId: string): void {
    for (const line of [this.#all, this.#lineOf(organizationId)]) line.giveBack()
  }

  #lineOf(organizationId: string): Line {
    return getOrInsert(this.#byOrganization, organizationId, () => {
      const perSecond = this.#perSecond * SHARE_OF_ONE
      const burst = Math.max(1, Math.ceil(burstOf(this.#perSecond) * SHARE_OF_ONE))
      return new Line(perSecond, burst, this.#clock.now())
    })
  }
}

/** A token bucket, and the number of refused clients whose turn has not come. */
class Line {
  readonly #perSecond: number
  readonly #burst: number
  #permits: number
  #queue = 0
  #countedAt: number

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#permits = burst
    this.#countedAt = now
  }

  get hasPermit(): boolean {
    return this.#permits >= 1
  }

  count(now: number): void {
    const seconds = Math.max(0, now - this.#countedAt) / 1000
    this.#countedAt = now
    this.#permits = Math.min(this.#burst, this.#permits + seconds * this.#perSecond)
    this.#queue = Math.max(0, this.#queue - seconds * this.#perSecond)
  }

  take(): void {
    this.#permits -= 1
  }

  giveBack(): void {
    this.#permits = Math.min(this.#burst, this.#permits + 1)
  }

  /** The next place in the queue, in whole seconds from now. */
  queue(): number {
    this.#queue += 1
    const turn = Math.ceil(this.#queue / this.#perSecond)
    return turn <= MAX_DELAY_SECONDS ? turn : spreadSeconds()
  }
}

function burstOf(perSecond: number): number {
  return Math.max(1, Math.ceil(perSecond / 4))
}

/** Creates the refusal of a client because there are too many; it may try again after `seconds`. */
export function overloaded(message: string, seconds: number): FlagError {
  return new FlagError('RATE_LIMITED', message, { details: { seconds, isOverload: true } })
}

/** Returns a random number of seconds from 1 to `most`, for clients without a place in a queue. */
export function spreadSeconds(most = MAX_DELAY_SECONDS): number {
  return 1 + Math.floor(Math.random() * most)
}
