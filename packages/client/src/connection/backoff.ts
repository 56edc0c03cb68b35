/** The minimum delay before an attempt, in milliseconds. */
export const MIN_DELAY_MS = 50
const FIRST_SPAN_MS = 1000
const MAX_SPAN_MS = 30_000
const SHORT_OUTAGE_MS = 16_000
const SHORT_OUTAGE_SPAN_MS = 4500
const MAX_RETRY_AFTER_MS = 86_400_000

/**
 * Returns a random delay before an attempt, in milliseconds. The delay is spread over the whole
 * span, so that clients that fail together do not come back together. The span doubles with each
 * failure up to 30 seconds. In the first 16 seconds of an outage, it is at most 4.5 seconds, so that
 * a client is back within five seconds after a server that restarted repeatedly has settled.
 * `count` is the number of failures since the connection was healthy, and `outageMs` the time since
 * the last success.
 */
export function backoffMs(count: number, outageMs: number, random: () => number): number {
  const longest = outageMs < SHORT_OUTAGE_MS ? SHORT_OUTAGE_SPAN_MS : MAX_SPAN_MS
  return MIN_DELAY_MS + random() * Math.min(longest, FIRST_SPAN_MS * 2 ** count)
}

/**
 * Returns the minimum delay that a server requests, in milliseconds. `retryAfter` is a number of
 * seconds or the value of a `Retry-After` header. Anything else means no minimum, and the longest
 * minimum is a day.
 */
export function minimumDelayMs(retryAfter: unknown): number {
  // The conversion of an object to a number can throw an error.
  const seconds = typeof retryAfter === 'object' ? 0 : Number(retryAfter)
  return seconds > 0 ? Math.min(1000 * seconds, MAX_RETRY_AFTER_MS) : 0
}
