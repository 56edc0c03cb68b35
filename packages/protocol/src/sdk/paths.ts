/** Where SDKs call, below the server's base path. */
export const SDK_PATHS = {
  evaluate: '/evaluator/evaluate',
  poll: '/evaluator/poll',
  flagSet: '/evaluator/flag-set',
  events: '/evaluator/events',
  socket: '/ws/sdk',
} as const

/** The request header that carries the SDK key. */
export const SDK_KEY_HEADER = 'x-api-key'

/** An SDK key is this prefix and 64 lower-case hexadecimal digits. */
export const SDK_KEY_PREFIX = 'ff_'

/** The response header that names the version of the flag set an answer was made from. */
export const FLAG_SET_VERSION_HEADER = 'X-FF-Version'

/** Response headers with the request limit of the minute and the rest of it. */
export const RATE_LIMIT_HEADERS = {
  /** Requests in one window. */
  limit: 'X-RateLimit-Limit',
  /** Requests left in this window. */
  remaining: 'X-RateLimit-Remaining',
  /** When the next window begins, in seconds since 1970. */
  reset: 'X-RateLimit-Reset',
} as const

/** The length of a rate-limit window. */
export const RATE_WINDOW_MS = 60_000

/** Requests a minute for a key that sets no limit of its own. */
export const DEFAULT_RATE_LIMIT = 6000

/** A poll is held at least this long when nothing changes. */
export const POLL_HOLD_MS = 60_000

/** Polls end up to this much later, so that they do not all return at once. */
export const POLL_SPREAD_MS = 1000

/** A socket that has not sent `init` by then is closed with 4408. */
export const INIT_WITHIN_MS = 10_000

/** The largest request body. */
export const MAX_BODY_BYTES = 256 * 1024

/**
 * The largest context of a poll or a socket: UTF-8 bytes of its JSON text. It is smaller than that
 * of an evaluation because the server holds it until the client leaves.
 */
export const MAX_HELD_CONTEXT_BYTES = 64 * 1024

/** The largest body of a poll: a context and what surrounds it. */
export const MAX_POLL_BODY_BYTES = MAX_HELD_CONTEXT_BYTES + 1024

/** The largest message a socket may send. */
export const MAX_MESSAGE_BYTES = 80 * 1024
