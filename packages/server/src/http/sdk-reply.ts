import { FLAG_SET_VERSION_HEADER, RATE_LIMIT_HEADERS, SDK_KEY_HEADER } from '@ff/protocol/sdk'
import type { Permit } from '../access/rate-limit.ts'
import { entityTagText } from '../evaluation/entity-tag.ts'
import type { EvaluationAnswer } from '../evaluation/evaluated.ts'
import { JSON_TYPE, type Reply } from './exchange.ts'

type HeaderName =
  | keyof typeof CORS_HEADERS
  | typeof FLAG_SET_VERSION_HEADER
  | (typeof RATE_LIMIT_HEADERS)[keyof typeof RATE_LIMIT_HEADERS]
  | 'Retry-After'
  | 'ETag'
  | 'Content-Type'

/** The headers of a reply; filled in while the request is handled. */
export type SdkHeaders = Record<HeaderName, string | undefined>

/**
 * Creates headers with a property for every name, which makes setting them fast. `isForPages`: pages
 * of other origins may read the reply.
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

/** Further headers of the reply to a preflight request. */
export const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers': `${SDK_KEY_HEADER}, content-type, if-none-match`,
  'Access-Control-Max-Age': '7200',
} as const

/** The headers that describe the rate limit. */
export type RateLimitHeaders = Pick<
  SdkHeaders,
  'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset' | 'Retry-After'
>

/** Sets the headers that describe how much of the limit of a key or an actor is left. */
export function setRateLimitHeaders(
  { limit, remaining, reset, retryAfter }: Permit,
  headers: Partial<RateLimitHeaders>,
): void {
  headers['X-RateLimit-Limit'] = limit
  headers['X-RateLimit-Remaining'] = remaining
  headers['X-RateLimit-Reset'] = reset
  headers['Retry-After'] = retryAfter
}

/** Returns the reply with the values of a context; with 304 if the caller has them. */
export function evaluationReply({ tag, json }: EvaluationAnswer, headers: SdkHeaders): Reply {
  headers['ETag'] = entityTagText(tag)
  headers['X-FF-Version'] = String(tag.version)
  if (json === null) return { status: 304, headers, body: null }
  headers['Content-Type'] = JSON_TYPE
  return { status: 200, headers, body: json }
}
