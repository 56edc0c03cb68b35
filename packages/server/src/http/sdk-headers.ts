import { FLAG_SET_VERSION_HEADER, RATE_LIMIT_HEADERS, SDK_KEY_HEADER } from '@ff/protocol/sdk'
import type { Permit } from '../access/rate-limit.ts'

type HeaderName =
  | keyof typeof CORS_HEADERS
  | typeof FLAG_SET_VERSION_HEADER
  | (typeof RATE_LIMIT_HEADERS)[keyof typeof RATE_LIMIT_HEADERS]
  | 'Retry-After'
  | 'ETag'
  | 'Content-Type'

/** Everything an answer says besides its body; filled in as the request goes along. */
export type SdkHeaders = Record<HeaderName, string | undefined>

/**
 * With a place for every header, and its name written out where it is set: that is fastest.
 * `isForPages`: pages of other origins may read the answer.
 */
export function noHeaders(isForPages: boolean): SdkHeaders {
  return {
    'Access-Control-Allow-Origin': isForPages
      ? CORS_HEADERS['Access-Control-Allow-Origin']
      : undefined,
    'Access-Control-Expose-Headers': isForPages
      ? CORS_HEADERS['Access-Control-Expose-Headers']
      : undefined,
    'X-FF-Version': undefined,
    'X-RateLimit-Limit': undefined,
    'X-RateLimit-Remaining': undefined,
    'X-RateLimit-Reset': undefined,
    'Retry-After': undefined,
    ETag: undefined,
    'Content-Type': undefined,
  }
}

const EXPOSED = [
  'ETag',
  FLAG_SET_VERSION_HEADER,
  ...Object.values(RATE_LIMIT_HEADERS),
  'Retry-After',
]

const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(', '),
} as const

/** What the answer to a preflight request says besides. */
export const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers': `${SDK_KEY_HEADER}, content-type, if-none-match`,
  'Access-Control-Max-Age': '7200',
} as const

/** The headers by which an answer describes the rate limit. */
export type RateLimitHeaders = Pick<
  SdkHeaders,
  'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset' | 'Retry-After'
>

/** Sets the headers that say how much of its limit a key or an actor has left. */
export function tellLimit(
  { limit, remaining, reset, retryAfter }: Permit,
  headers: Partial<RateLimitHeaders>,
): void {
  headers['X-RateLimit-Limit'] = limit
  headers['X-RateLimit-Remaining'] = remaining
  headers['X-RateLimit-Reset'] = reset
  headers['Retry-After'] = retryAfter
}
