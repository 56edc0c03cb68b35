/** A fixed time window with a maximum number of requests. */
export interface RateWindow {
  /** The maximum number of requests in one window. */
  readonly limit: number
  /** The start of the window in epoch milliseconds, a multiple of `lengthMs`. */
  readonly startedAt: number
  /** The length of the window in milliseconds. */
  readonly lengthMs: number
}

/** Shares the requests of fixed time windows among processes. */
export interface RateLimiter {
  /**
   * Reserves up to `amount` requests for `key` in this window and returns the number that is
   * granted: 0 if the window is used up.
   */
  lease(key: string, window: RateWindow, amount: number): Promise<number>
}
