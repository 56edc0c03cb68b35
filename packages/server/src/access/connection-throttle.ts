import { FlagError } from '@ff/core'
import type { Clock } from '../runtime/clock.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { type RequestLimiter, tooManyRequests } from './rate-limit.ts'
import type { EnvironmentScope } from './scope.ts'

interface ConnectionThrottleOptions {
  readonly clock: Clock
  /** The maximum number of clients that connect per second. */
  readonly perSecond: number
}

/** The maximum delay of a refused client in seconds, for any place in the queue. */
const MAX_DELAY_SECONDS = 60

/** The largest share of the rate that one organization may use. */
const SHARE_OF_ONE = 0.75

/**
 * Limits the number of clients that connect per second. At most a quarter of this number can
 * connect at the same time. One organization can use at most three quarters of both limits, so that
 * clients of other organizations can connect. A refused client receives a delay that corresponds to
 * its place in a virtual queue, so that refused clients reconnect at different times, in order of
 * arrival.
 */
export class ConnectionThrottle {
  readonly #clock: Clock
  readonly #all: Line
  /**
   * The queue of each organization. The map is bounded, because only organizations with a valid SDK
   * key are added.
   */
  readonly #byOrganization = new Map<string, Line>()
  readonly #perSecond: number

  constructor({ clock, perSecond }: ConnectionThrottleOptions) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#all = new Line(perSecond, burstOf(perSecond), clock.now())
  }

  /**
   * Admits a client with this key, and takes one request from the key's rate limit. Throws
   * `RATE_LIMITED` if too many clients connect or the rate limit is used up. If too many clients
   * connect, the error has the detail `isOverload`, and no request is taken.
   */
  async admit(scope: EnvironmentScope, limiter: RequestLimiter): Promise<void> {
    const seconds = this.take(scope.organizationId)
    if (seconds > 0) throw overloaded('The server is overloaded; connect again later.', seconds)
    const permit = await limiter.take(scope)
    if (permit.granted) return
    this.giveBack(scope.organizationId)
    throw tooManyRequests({ seconds: Number(permit.retryAfter) })
  }

  /**
   * Returns 0 if a client of the organization may connect now. Otherwise returns the number of
   * whole seconds after which it may try again.
   */
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

  /** Gives back a permit that was not used. */
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

/** A token bucket, and the number of refused clients that are expected to return. */
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

  /** Adds a client to the queue and returns its delay in whole seconds. */
  queue(): number {
    this.#queue += 1
    const turn = Math.ceil(this.#queue / this.#perSecond)
    return turn <= MAX_DELAY_SECONDS ? turn : spreadSeconds()
  }
}

function burstOf(perSecond: number): number {
  return Math.max(1, Math.ceil(perSecond / 4))
}

/**
 * Creates a `RATE_LIMITED` error for a client that is refused because of an overload. The client
 * may try again after `seconds`.
 */
export function overloaded(message: string, seconds: number): FlagError {
  return new FlagError('RATE_LIMITED', message, { details: { seconds, isOverload: true } })
}

/**
 * Returns a random integer from 1 to `most`: the delay, in seconds, of a client without a place in
 * a queue.
 */
export function spreadSeconds(most = MAX_DELAY_SECONDS): number {
  return 1 + Math.floor(Math.random() * most)
}
