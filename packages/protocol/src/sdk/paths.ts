/** The paths for SDKs, relative to the server's base path. */
export const SDK_PATHS = {
  evaluate: '/evaluator/evaluate',
  poll: '/evaluator/poll',
  flagSet: '/evaluator/flag-set',
  flagSetPoll: '/evaluator/flag-set/poll',
  events: '/evaluator/events',
  socket: '/ws/sdk',
} as const

/** The request header that contains the SDK key. */
export const SDK_KEY_HEADER = 'x-api-key'

/** The prefix of SDK keys; 64 lower-case hexadecimal digits follow. */
export const SDK_KEY_PREFIX = 'ff_'

/** The response header with the version of the flag set that was evaluated. */
export const FLAG_SET_VERSION_HEADER = 'X-FF-Version'

/**
 * The response header with the value `true` if the store no longer has the version that the client
 * named, for example because a backup was restored. The client then accepts the lower version.
 */
export const RESTORED_HEADER = 'X-FF-Restored'

/** The response headers with the state of the rate limit. */
export const RATE_LIMIT_HEADERS = {
  /** The number of requests that a window permits. */
  limit: 'X-RateLimit-Limit',
  /** The number of requests that remain in the current window. */
  remaining: 'X-RateLimit-Remaining',
  /** The start of the next window, as Unix time in seconds. */
  reset: 'X-RateLimit-Reset',
} as const

/** The length of a rate-limit window in milliseconds. */
export const RATE_WINDOW_MS = 60_000

/** The maximum number of requests per minute for an SDK key without its own rate limit. */
export const DEFAULT_RATE_LIMIT = 6000

/** The minimum time until a poll ends without a change, in milliseconds. */
export const POLL_HOLD_MS = 60_000

/**
 * The maximum random delay after `POLL_HOLD_MS`, in milliseconds. It prevents many polls from
 * ending at the same time.
 */
export const POLL_SPREAD_MS = 1000

/** Milliseconds until a socket that has not sent `init` is closed with code 4408. */
export const INIT_WITHIN_MS = 10_000

/** The maximum size of a request body in bytes, unless the endpoint has its own limit. */
export const MAX_BODY_BYTES = 256 * 1024

/**
 * The maximum size of the context of a poll or a socket, in UTF-8 bytes of its JSON text. It is
 * smaller than for an evaluation, because the server keeps the context until the client
 * disconnects.
 */
export const MAX_HELD_CONTEXT_BYTES = 64 * 1024

/** The maximum size of the body of a poll in bytes: a context and the other fields. */
export const MAX_POLL_BODY_BYTES = MAX_HELD_CONTEXT_BYTES + 1024

/** The maximum size, in bytes, of a socket message from a client. */
export const MAX_MESSAGE_BYTES = 80 * 1024
