import { FlagError } from '@ff/core'
import { RATE_WINDOW_MS } from '@ff/protocol/sdk'
import type { RateLimiter, RateWindow } from '@ff/storage'
import { type Clock, within } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { EnvironmentScope } from './sdk-keys.ts'

/** Whether a request is granted, and the state of its limit as text for headers. */
export interface Permit {
  readonly granted: boolean
  readonly limit: string
  readonly remaining: string
  readonly reset: string
  /** Seconds until the next window; present if the request was not granted. */
  readonly retryAfter?: string
}

/** The key by which requests are counted, and how many are granted in a minute. */
export type RateLimited = Pick<EnvironmentScope, 'keyId' | 'rateLimit'>

/** One key's share of the present window, leased from the limiter that processes share. */
interface Share {
  readonly window: RateWindow
  readonly limit: string
  readonly reset: string
  /** Requests that are granted without the limiter; negative after a request that counted more. */
  left: number
  /** Requests leased in this window. */
  leased: number
  /** Whether the limiter grants no more in this window. */
  exhausted: boolean
  /** The running request to the limiter. */
  asking: Promise<void> | undefined
}

/** How long the limiter may take to answer before this process counts alone. */
const ANSWER_WITHIN_MS = 250

/** How long a limiter that failed is not called. */
const REST_MS = 5000

interface RequestLimiterOptions {
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Counts requests in windows of a minute for each key. Permits come from a share leased in
 * advance, so that only a request that finds none left waits for the limiter. While the
 * limiter fails, this process counts alone: it never grants more than the limit.
 */
export class RequestLimiter {
  readonly #options: RequestLimiterOptions
  readonly #shares = new Map<string, Share>()
  #windowStart = 0
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(options: RequestLimiterOptions) {
    this.#options = options
  }

  /** Takes one request from the key's window; synchronous unless the limiter must be called. */
  take(limited: RateLimited): Permit | Promise<Permit> {
    const share = this.#shareOf(limited)
    if (share.left <= 0 && !share.exhausted) return this.#takeAfterAsking(limited)
    return this.#permit(share)
  }

  /** Takes further requests from the window for one that was granted. */
  charge(limited: RateLimited, requests: number): void {
    this.#shareOf(limited).left -= requests
  }

  async #takeAfterAsking(limited: RateLimited): Promise<Permit> {
    let share = this.#shareOf(limited)
    while (share.left <= 0 && !share.exhausted) {
      share.asking ??= this.#ask(limited.keyId, share)
      await share.asking
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
    const seconds = Math.ceil((endOf(window) - this.#options.clock.now()) / 1000)
    return { granted, limit, remaining, reset, retryAfter: String(Math.max(1, seconds)) }
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
      ...{ left: 0, leased: 0, exhausted: false, asking: undefined },
    }
    this.#shares.set(keyId, share)
    return share
  }

  async #ask(keyId: string, share: Share): Promise<void> {
    const { limit } = share.window
    const most = limit - share.leased
    const amount = Math.min(Math.max(Math.floor(limit / 100), 1 - share.left), most)
    const granted = await this.#lease(keyId, share.window, amount)
    share.left += granted
    share.leased += granted
    share.exhausted = granted < amount || share.leased === limit
    share.asking = undefined
  }

  /** Returns all of `amount` if the limiter fails or has failed lately: the caller knows the limit. */
  async #lease(keyId: string, window: RateWindow, amount: number): Promise<number> {
    if (Math.abs(this.#options.clock.now() - this.#failedAt) < REST_MS) return amount
    try {
      const lease = this.#options.limiter.lease(keyId, window, amount)
      const granted = await within(lease, { clock: this.#options.clock, ms: ANSWER_WITHIN_MS })
      if (granted === undefined) throw new Error('no answer in time')
      return Math.max(0, Math.min(granted, amount))
    } catch (cause) {
      this.#failedAt = this.#options.clock.now()
      this.#options.logger.error('the rate limiter fails; this process counts alone', { cause })
      return amount
    }
  }
}

function endOf({ startedAt, lengthMs }: RateWindow): number {
  return startedAt + lengthMs
}

interface Shortage {
  /** By what the requests are counted. */
  readonly of?: string
  /** When the next window begins. */
  readonly seconds?: number
}

/** Creates the refusal of a request beyond the limit. */
export function tooManyRequests({ of = 'SDK key', seconds }: Shortage = {}): FlagError {
  const message = `Too many requests for this ${of}; wait for the reset.`
  const details = seconds === undefined ? {} : { details: { seconds } }
  return new FlagError('RATE_LIMITED', message, details)
}
