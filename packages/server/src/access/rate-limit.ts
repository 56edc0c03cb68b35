import { FlagError } from '@ff/core'
import { RATE_WINDOW_MS } from '@ff/protocol/sdk'
import type { RateLimiter, RateWindow } from '@ff/storage'
import { type Clock, within } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { EnvironmentScope } from './scope.ts'

/** The decision about a request, and the state of its rate limit as header values. */
export interface Permit {
  /** `true` if the request is within the limit. */
  readonly granted: boolean
  /** The maximum number of requests in a window. */
  readonly limit: string
  /** The number of requests that are left in this window. */
  readonly remaining: string
  /** The end of the window in epoch seconds. */
  readonly reset: string
  /** Seconds until the next window; only present if the request was not granted. */
  readonly retryAfter?: string
}

/** The id by which requests are counted, and the maximum number of requests per minute. */
export type RateLimited = Pick<EnvironmentScope, 'keyId' | 'rateLimit'>

/**
 * The requests of one key that this process can grant in the current window. They are leased from
 * the rate limiter that all processes share.
 */
interface Share {
  readonly window: RateWindow
  readonly limit: string
  readonly reset: string
  /**
   * The number of requests that can be granted without another lease. Negative if a request was
   * charged for more requests than were left.
   */
  left: number
  /** The number of requests leased in this window. */
  leased: number
  /** `true` if the rate limiter leases no more requests in this window. */
  exhausted: boolean
  /**
   * The call to the rate limiter that is in progress, which resolves with `true` if it granted any
   * request; `undefined` if there is none.
   */
  leasing: Promise<boolean> | undefined
}

/**
 * The maximum duration of a call of the rate limiter. If a call takes longer, it counts as failed.
 */
const LEASE_WITHIN_MS = 250

/** The time between two calls of a rate limiter that fails. */
const RETRY_MS = 5000

interface RequestLimiterOptions {
  readonly limiter: RateLimiter
  /** This instance, which knows how many instances share the rate limiter. */
  readonly instance: { readonly runningInstances: number }
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Counts the requests of each key in windows of one minute. Requests are leased from the rate
 * limiter in advance, so that a request waits for the rate limiter only if no leased request is
 * left. While the rate limiter fails, no request waits for it: this process counts alone, and grants
 * its share of each limit, which is the limit divided by the number of running instances, rounded up.
 */
export class RequestLimiter {
  readonly #options: RequestLimiterOptions
  readonly #shares = new Map<string, Share>()
  #windowStart = 0
  /** The time of the last call of the rate limiter. */
  #calledAt = Number.NEGATIVE_INFINITY
  /** `true` from the first failed call of the rate limiter until one succeeds. */
  #isFailing = false

  constructor(options: RequestLimiterOptions) {
    this.#options = options
  }

  /**
   * Takes one request from the key's window. If no request is left, the permit is not granted.
   * Synchronous unless the rate limiter must be called.
   */
  take(limited: RateLimited): Permit | Promise<Permit> {
    const share = this.#shareOf(limited)
    if (share.left <= 0 && !share.exhausted) return this.#takeAfterLease(limited)
    return this.#permit(share)
  }

  /** Takes further requests from the key's window for a request that was granted before. */
  charge(limited: RateLimited, requests: number): void {
    this.#shareOf(limited).left -= requests
  }

  /** Counts alone until the rate limiter has responded. */
  assumeFailure(): void {
    this.#isFailing = true
  }

  async #takeAfterLease(limited: RateLimited): Promise<Permit> {
    let share = this.#shareOf(limited)
    let isGranted = true
    while (share.left <= 0 && !share.exhausted && isGranted) {
      share.leasing ??= this.#leaseMore(limited.keyId, share)
      isGranted = await share.leasing
      share = this.#shareOf(limited)
    }
    return this.#permit(share)
  }

  #permit(share: Share): Permit {
    const granted = share.left > 0
    if (granted) share.left -= 1
    const { window, limit, reset, leased, exhausted, left } = share
    const remaining = String(Math.max(0, exhausted ? left : window.limit - leased + left))
    if (granted) return { granted, limit, remaining, reset }
    // Without the rate limiter, the rest of the limit belongs to other instances.
    const seconds = Math.ceil((endOf(window) - this.#options.clock.now()) / 1000)
    return { granted, limit, remaining: '0', reset, retryAfter: String(Math.max(1, seconds)) }
  }

  #shareOf({ keyId, rateLimit }: RateLimited): Share {
    const now = this.#options.clock.now()
    const startedAt = now - (now % RATE_WINDOW_MS)
    if (startedAt !== this.#windowStart) {
      this.#windowStart = startedAt
      this.#shares.clear()
    }
    const known = this.#shares.get(keyId)
    if (known !== undefined && known.window.limit === rateLimit) return known
    const window = { limit: rateLimit, startedAt, lengthMs: RATE_WINDOW_MS }
    const share = {
      window,
      limit: String(rateLimit),
      reset: String(Math.ceil(endOf(window) / 1000)),
      ...{ left: 0, leased: 0, exhausted: false, leasing: undefined },
    }
    this.#shares.set(keyId, share)
    return share
  }

  async #leaseMore(keyId: string, share: Share): Promise<boolean> {
    const { limit } = share.window
    const most = limit - share.leased
    const amount = Math.min(Math.max(Math.floor(limit / 100), 1 - share.left), most)
    const leased = await this.#lease(keyId, share.window, amount)
    const granted = leased ?? Math.min(amount, this.#leftAlone(share))
    share.left += granted
    share.leased += granted
    share.exhausted = share.leased === limit || (leased !== undefined && leased < amount)
    share.leasing = undefined
    return granted > 0
  }

  /** Returns the number of requests that this process may still grant without the rate limiter. */
  #leftAlone({ window, leased }: Share): number {
    const own = Math.ceil(window.limit / this.#options.instance.runningInstances)
    return Math.max(0, own - leased)
  }

  /**
   * Leases up to `amount` requests, and returns the number that the rate limiter granted. Returns
   * `undefined` if the rate limiter fails. One that fails is called again from time to time, without
   * waiting for it.
   */
  async #lease(keyId: string, window: RateWindow, amount: number): Promise<number | undefined> {
    if (!this.#isFailing) return this.#call(keyId, window, amount)
    if (Math.abs(this.#options.clock.now() - this.#calledAt) < RETRY_MS) return undefined
    void this.#call(keyId, window, 1)
    return undefined
  }

  /** Calls the rate limiter. Returns `undefined` if it fails. */
  async #call(keyId: string, window: RateWindow, amount: number): Promise<number | undefined> {
    const { limiter, clock, logger } = this.#options
    this.#calledAt = clock.now()
    try {
      const lease = limiter.lease(keyId, window, amount)
      const granted = await within(lease, { clock, ms: LEASE_WITHIN_MS })
      if (granted === undefined) throw new Error('The rate limiter did not respond in time')
      if (this.#isFailing) logger.info('The rate limiter responds again')
      this.#isFailing = false
      return Math.max(0, Math.min(granted, amount))
    } catch (cause) {
      if (!this.#isFailing) {
        logger.error('The rate limiter failed; this process counts alone', { cause })
      }
      this.#isFailing = true
      return undefined
    }
  }
}

function endOf({ startedAt, lengthMs }: RateWindow): number {
  return startedAt + lengthMs
}

interface Shortage {
  /** The thing that the limit applies to, such as `SDK key`. */
  readonly of?: string
  /** Seconds until the next window. */
  readonly seconds?: number
}

/** Creates the `RATE_LIMITED` error for a request beyond the limit. */
export function tooManyRequests({ of = 'SDK key', seconds }: Shortage = {}): FlagError {
  const message = `Too many requests for this ${of}; wait until the limit is reset.`
  const details = seconds === undefined ? {} : { details: { seconds } }
  return new FlagError('RATE_LIMITED', message, details)
}
