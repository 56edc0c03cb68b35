import { FlagError } from '@ff/core'
import { SDK_KEY_HEADER } from '@ff/protocol/sdk'
import { type RequestLimiter, tooManyRequests } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import type { SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import { mapMaybeAsync } from '../runtime/map-maybe-async.ts'
import type { Exchange, JsonBody, Reply } from './exchange.ts'
import { noRoute } from './no-route.ts'
import { preflightHeaders, type SdkHeaders, setRateLimitHeaders } from './sdk-reply.ts'

/** A path of the SDK endpoints. */
export interface SdkRoute {
  readonly allowed: 'GET' | 'POST'
  readonly reply: (exchange: Exchange, headers: SdkHeaders) => Reply | Promise<Reply>
}

/** The routes by path. A path can be a template with a parameter. */
export type SdkRoutes = ReadonlyMap<string, SdkRoute>

interface RoutedRequest {
  readonly exchange: Exchange
  readonly headers: SdkHeaders
  readonly basePath: string
  /** The path of the route; by default the path of the request. */
  readonly template?: string
}

/**
 * Calls the route of a request, and replies to preflight requests. Throws `NOT_FOUND` without a
 * route, and `METHOD_NOT_ALLOWED` for a wrong method.
 */
export function replyOfRoute(routes: SdkRoutes, request: RoutedRequest): Reply | Promise<Reply> {
  const { exchange, headers, basePath, template } = request
  const { method, path } = exchange
  const route = routes.get(template ?? path)
  if (route === undefined) {
    const paths = [...routes.keys()].join(', ')
    throw noRoute({ method, path: basePath + path }, `use one of ${paths}`)
  }
  const { allowed, reply } = route
  const allow = `${allowed}, OPTIONS`
  if (method === 'OPTIONS') return preflight(exchange, allow, headers)
  if (method !== allowed) {
    const message = `Use ${allowed} for this path.`
    throw new FlagError('METHOD_NOT_ALLOWED', message, { details: { allow } })
  }
  return reply(exchange, headers)
}

function preflight(exchange: Exchange, allow: string, headers: SdkHeaders): Reply {
  const isForPages = headers['Access-Control-Allow-Origin'] !== undefined
  const allowed = isForPages && preflightHeaders(exchange, allow)
  return { status: 204, headers: { ...headers, ...allowed, Allow: allow }, body: null }
}

/** The dependencies of `admit`. */
export interface AdmissionOptions {
  readonly keys: SdkKeyVerifier
  readonly limiter: RequestLimiter
  readonly cache: FlagSetCache
}

/**
 * Returns the scope of an SDK key, by default the one in the header `X-API-Key`, and sets the
 * version and rate-limit headers. Throws `UNAUTHENTICATED` or `RATE_LIMITED`.
 */
export function admit(
  options: AdmissionOptions,
  exchange: Exchange,
  headers: SdkHeaders,
  key = exchange.header(SDK_KEY_HEADER),
): EnvironmentScope | Promise<EnvironmentScope> {
  const { keys } = options
  return mapMaybeAsync(keys.find(key) ?? keys.verify(key), (scope) =>
    admitScope(options, scope, headers),
  )
}

/** Counts a request of a scope, and sets the same headers. Throws `RATE_LIMITED`. */
export function admitScope(
  { limiter, cache }: AdmissionOptions,
  scope: EnvironmentScope,
  headers: SdkHeaders,
): EnvironmentScope | Promise<EnvironmentScope> {
  const version = cache.find(scope)?.version
  if (version !== undefined) headers['X-FF-Version'] = String(version)
  return mapMaybeAsync(limiter.take(scope), (permit) => {
    setRateLimitHeaders(permit, headers)
    if (!permit.granted) throw tooManyRequests()
    return scope
  })
}

/** The assumed size, in bytes, of a body that the host has parsed. */
const ASSUMED_BYTES = 4096

/** Returns the size of a body in bytes. */
export function sizeOf({ bytes }: JsonBody): number {
  return bytes?.byteLength ?? ASSUMED_BYTES
}
