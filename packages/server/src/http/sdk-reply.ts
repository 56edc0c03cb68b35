import {
  FLAG_SET_VERSION_HEADER,
  RATE_LIMIT_HEADERS,
  RESTORED_HEADER,
  SDK_KEY_HEADER,
} from '@ff/protocol/sdk'
import type { Permit } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import { entityTagText } from '../evaluation/entity-tag.ts'
import type { EvaluationAnswer } from '../evaluation/evaluated.ts'
import { type Exchange, type Headers, JSON_TYPE, type Reply } from './exchange.ts'
import { REQUEST_ID_HEADER } from './request-log.ts'

type HeaderName =
  | keyof typeof CORS_HEADERS
  | typeof FLAG_SET_VERSION_HEADER
  | typeof RESTORED_HEADER
  | (typeof RATE_LIMIT_HEADERS)[keyof typeof RATE_LIMIT_HEADERS]
  | 'Retry-After'
  | 'ETag'
  | 'Content-Type'

/** The headers of a reply. They are set while the request is handled. */
export type SdkHeaders = Record<HeaderName, string | undefined>

/** A request with a valid SDK key, within its rate limit. */
export interface SdkRequest {
  readonly scope: EnvironmentScope
  readonly exchange: Exchange
  /** The headers of the reply that have been set so far. */
  readonly headers: SdkHeaders
}

/**
 * Creates headers with a property for every name, so that setting them is fast. If `isForPages`,
 * the CORS headers let pages of other origins read the reply.
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
    'X-FF-Restored': undefined,
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
  RESTORED_HEADER,
  ...Object.values(RATE_LIMIT_HEADERS),
  'Retry-After',
  REQUEST_ID_HEADER,
]

const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(', '),
} as const

/** The headers that a page may send if it does not request any in its preflight request. */
const ALLOWED = `${SDK_KEY_HEADER}, authorization, content-type, if-none-match`

/** A list of header names (RFC 9110, 5.6.2). */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/

/**
 * Returns the additional headers of the reply to a preflight request. All requested headers are
 * allowed, because tools for tracing and monitoring add headers of their own to each request.
 */
export function preflightHeaders(exchange: Exchange, methods: string): Headers {
  const requested = exchange.header('access-control-request-headers') ?? ''
  return {
    'Access-Control-Allow-Headers': HEADER_NAMES.test(requested) ? requested : ALLOWED,
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Max-Age': '7200',
    Vary: 'Access-Control-Request-Headers',
  }
}

/** The headers that describe the rate limit. */
export type RateLimitHeaders = Pick<
  SdkHeaders,
  'X-RateLimit-Limit' | 'X-RateLimit-Remaining' | 'X-RateLimit-Reset' | 'Retry-After'
>

/** Sets the headers that describe the state of a rate limit. */
export function setRateLimitHeaders(
  { limit, remaining, reset, retryAfter }: Permit,
  headers: Partial<RateLimitHeaders>,
): void {
  headers['X-RateLimit-Limit'] = limit
  headers['X-RateLimit-Remaining'] = remaining
  headers['X-RateLimit-Reset'] = reset
  headers['Retry-After'] = retryAfter
}

/** Creates the reply with the values of a context, or 304 if the client already has them. */
export function evaluationReply({ tag, json }: EvaluationAnswer, headers: SdkHeaders): Reply {
  headers['ETag'] = entityTagText(tag)
  headers['X-FF-Version'] = String(tag.version)
  if (json === null) return { status: 304, headers, body: null }
  headers['Content-Type'] = JSON_TYPE
  return { status: 200, headers, body: json }
}
