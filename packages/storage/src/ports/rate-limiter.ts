/** A fixed time window with a maximum number of requests. */
export interface RateWindow {
  /** The maximum number of requests in one window. */
  readonly limit: number
  /** The start of the window in epoch milliseconds, a multiple of `lengthMs`. */
  readonly startedAt: number
  /** The length of the window in milliseconds. */
  readonly lengthMs: number
}

/** Limits the number of requests per time window, for all processes together. */
export interface RateLimiter {
  /**
   * Reserves up to `amount` requests for `key` in `window`. Returns the number of granted requests,
   * which is 0 if the limit is reached.
   */
  lease(key: string, window: RateWindow, amount: number): Promise<number>
}
