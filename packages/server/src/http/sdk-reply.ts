import { FlagError, type FlagSet } from '@ff/core'
import { FLAG_SET_VERSION_HEADER, RATE_LIMIT_HEADERS, SDK_KEY_HEADER } from '@ff/protocol/sdk'
import type { Permit } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { entityTagText } from '../evaluation/entity-tag.ts'
import type { EvaluationAnswer } from '../evaluation/evaluated.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import { type Exchange, JSON_TYPE, type Reply } from './exchange.ts'
import { REQUEST_ID_HEADER } from './request-log.ts'

type HeaderName =
  | keyof typeof CORS_HEADERS
  | typeof FLAG_SET_VERSION_HEADER
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
  REQUEST_ID_HEADER,
]

const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(', '),
} as const

/** The additional headers of the reply to a preflight request. */
export const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers': `${SDK_KEY_HEADER}, content-type, if-none-match`,
  'Access-Control-Max-Age': '7200',
} as const

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

/**
 * The JSON text of each flag set in use. The texts are cached because they are large and often
 * requested.
 */
const texts = new WeakMap<FlagSet, string>()

/**
 * Creates the reply with the definition of the flag set, in the form that `compileFlagSet` accepts,
 * or 304 if the client already has this flag set. Throws `FORBIDDEN` unless the key is of kind
 * `server`.
 */
export async function flagSetReply(
  cache: FlagSetCache,
  { scope, exchange, headers }: SdkRequest,
): Promise<Reply> {
  if (scope.kind !== 'server') {
    throw new FlagError('FORBIDDEN', 'Only an SDK key of kind "server" may fetch the flag set.')
  }
  const flagSet = await cache.get(scope)
  // The path is the same for every environment, so the version alone would not identify the flag
  // set.
  const tag = `"${flagSet.version}-${scope.environmentId}"`
  headers['ETag'] = tag
  headers['X-FF-Version'] = String(flagSet.version)
  const about = { ...headers, 'Cache-Control': 'private, no-cache' }
  if (isNamedIn(exchange.header('if-none-match'), tag)) {
    return { status: 304, headers: about, body: null }
  }
  const body = getOrInsert(texts, flagSet, () => JSON.stringify(flagSet.definition))
  return { status: 200, headers: { ...about, 'Content-Type': JSON_TYPE }, body }
}

/** Returns `true` if an `If-None-Match` header contains the tag, strong or weak, or `*`. */
function isNamedIn(header: string | undefined, tag: string): boolean {
  const named = (header ?? '').split(',').map((text) => text.trim())
  return named.some((text) => text === '*' || text === tag || text === `W/${tag}`)
}
