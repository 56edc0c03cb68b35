/** A window of time with a limit of requests. */
export interface RateWindow {
  /** Requests granted in one window. */
  readonly limit: number
  /** When this window began, in epoch milliseconds: a multiple of `lengthMs`. */
  readonly startedAt: number
  readonly lengthMs: number
}

/** Shares fixed windows of requests among processes. */
export interface RateLimiter {
  /** How many of `amount` requests are granted to `key` in this window: 0 when it is used up. */
  lease(key: string, window: RateWindow, amount: number): Promise<number>
}
