import { FlagError, parseContext } from '@ff/core'
import {
  asEvaluateRequest,
  asPollRequest,
  FLAG_SET_VERSION_HEADER,
  MAX_BODY_BYTES,
  RATE_LIMIT_HEADERS,
  SDK_KEY_HEADER,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import type { EvaluationSource } from '@ff/storage'
import { spreadSeconds } from '../access/admission.ts'
import { type RequestLimiter, tooManyRequests } from '../access/rate-limit.ts'
import type { EnvironmentScope, SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { Clock } from '../clock.ts'
import { entityTagText } from '../evaluation/entity-tag.ts'
import type { Answer, Evaluator } from '../evaluation/evaluator.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { UsageRecorder } from '../evaluation/usage-recorder.ts'
import type { LongPolls } from '../live/long-polls.ts'
import type { SessionRegistry } from '../live/session-registry.ts'
import type { Logger } from '../logger.ts'
import { sdkErrorReply } from './error-reply.ts'
import { eventsReply } from './events-reply.ts'
import type { Exchange, Reply } from './exchange.ts'
import { flagSetReply } from './flag-set-reply.ts'

export interface SdkParts {
  readonly cache: FlagSetCache
  readonly evaluator: Evaluator
  readonly sessions: SessionRegistry
  readonly polls: LongPolls
  readonly clock: Clock
  readonly usage: UsageRecorder
  readonly keys: SdkKeyVerifier
  readonly limiter: RequestLimiter
  readonly logger: Logger
  /** How many polls are parked at once before more are refused. */
  readonly maxLiveClients: number
}

/** Everything an answer says besides its body; filled in as the request goes along. */
type Headers = Record<string, string>

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

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers': `${SDK_KEY_HEADER}, content-type, if-none-match`,
  'Access-Control-Max-Age': '7200',
} as const

/** Whether a path belongs to the SDK family: its errors, its CORS headers, no bearer tokens. */
export function isSdkPath(path: string): boolean {
  return path.startsWith('/evaluator/') || path.startsWith('/ws/')
}

/** Answers every request to an SDK path; nothing escapes as an exception. */
export async function handleSdk(parts: SdkParts, exchange: Exchange): Promise<Reply> {
  const headers: Headers = { ...CORS_HEADERS }
  try {
    return await routeOf(exchange)(parts, exchange, headers)
  } catch (error) {
    const reply = sdkErrorReply(error, parts.logger)
    return { ...reply, headers: { ...headers, ...reply.headers } }
  }
}

type Route = (parts: SdkParts, exchange: Exchange, headers: Headers) => Promise<Reply>

/** The method and handler of each path. */
const ROUTES: ReadonlyMap<string, readonly [method: string, route: Route]> = new Map([
  [SDK_PATHS.evaluate, ['POST', evaluate]],
  [SDK_PATHS.poll, ['POST', poll]],
  [SDK_PATHS.socket, ['GET', askForUpgrade]],
  [SDK_PATHS.flagSet, ['GET', flagSet]],
  [SDK_PATHS.events, ['POST', events]],
])

function routeOf({ method, path }: Exchange): Route {
  const [allowed, route] = ROUTES.get(path) ?? []
  if (allowed === undefined || route === undefined) {
    throw new FlagError('NOT_FOUND', 'There is nothing at this path.')
  }
  if (method === allowed) return route
  const allow = `${allowed}, OPTIONS`
  if (method === 'OPTIONS') return async (_parts, _exchange, headers) => preflight(allow, headers)
  const message = `Use ${allowed} for this path.`
  throw new FlagError('METHOD_NOT_ALLOWED', message, { details: { allow } })
}

function preflight(allow: string, headers: Headers): Reply {
  const allowed = { Allow: allow, 'Access-Control-Allow-Methods': allow }
  return { status: 204, headers: { ...headers, ...PREFLIGHT_HEADERS, ...allowed }, body: null }
}

async function evaluate(parts: SdkParts, exchange: Exchange, headers: Headers): Promise<Reply> {
  const scope = await admit(parts, exchange, headers)
  const request = asEvaluateRequest(await exchange.json(MAX_BODY_BYTES))
  if (request === undefined) throw missingContext()
  const context = parseContext(request.context)
  const { cache, evaluator, usage } = parts
  const { environmentId } = scope
  const flagSet = cache.find(environmentId) ?? (await cache.get(environmentId))
  usage.requested(environmentId)
  const answer = evaluator.answer(flagSet, context, exchange.header('if-none-match'))
  recordAnswer(usage, answer, { environmentId, source: 'rest' })
  return toReply(answer, headers)
}

async function poll(parts: SdkParts, exchange: Exchange, headers: Headers): Promise<Reply> {
  const scope = await admit(parts, exchange, headers)
  const request = asPollRequest(await exchange.json(MAX_BODY_BYTES))
  if (request === undefined) throw missingContext()
  const context = parseContext(request.context)
  if (parts.sessions.size >= parts.maxLiveClients) {
    headers['Retry-After'] = String(spreadSeconds())
    throw new FlagError('RATE_LIMITED', 'Too many clients are waiting; come back later.')
  }
  const { since } = request
  const { environmentId } = scope
  const { polls, usage } = parts
  usage.requested(environmentId)
  // Nothing of the request is kept while it is held but what the answer needs.
  return polls.wait({ scope, context, since, exchange }).then((answer) => {
    // Who has left is told nothing.
    if (answer === undefined) return { status: 204, headers, body: null }
    recordAnswer(usage, answer, { environmentId, source: 'poll' })
    return toReply(answer, headers)
  })
}

interface Asked {
  readonly environmentId: string
  readonly source: EvaluationSource
}

/** Nothing was evaluated for a caller who had it already. */
function recordAnswer(
  usage: UsageRecorder,
  { evaluated, tag }: Answer,
  { environmentId, source }: Asked,
): void {
  if (evaluated !== undefined) usage.evaluated(environmentId, source, evaluated, tag.contextHash)
}

async function flagSet(parts: SdkParts, exchange: Exchange, headers: Headers): Promise<Reply> {
  const scope = await admit(parts, exchange, headers)
  return flagSetReply(parts.cache, { scope, exchange, headers })
}

async function events(parts: SdkParts, exchange: Exchange, headers: Headers): Promise<Reply> {
  const scope = await admit(parts, exchange, headers)
  return eventsReply(parts, { scope, exchange, headers })
}

async function askForUpgrade(): Promise<Reply> {
  throw new FlagError('INVALID_REQUEST', 'Open a WebSocket at this path.')
}

/** Whose environment it is, once the key and the rate limit let the request pass. */
async function admit(
  parts: SdkParts,
  exchange: Exchange,
  headers: Headers,
): Promise<EnvironmentScope> {
  const { keys, limiter, cache } = parts
  const key = exchange.header(SDK_KEY_HEADER)
  const scope = keys.find(key) ?? (await keys.verify(key))
  const version = cache.find(scope.environmentId)?.version
  if (version !== undefined) headers[FLAG_SET_VERSION_HEADER] = String(version)
  const taken = limiter.take(scope)
  const permit = taken instanceof Promise ? await taken : taken
  Object.assign(headers, permit.headers)
  if (!permit.granted) throw tooManyRequests()
  return scope
}

function missingContext(): FlagError {
  return new FlagError('INVALID_REQUEST', 'The body must be an object with an object "context".')
}

function toReply({ tag, json }: Answer, headers: Headers): Reply {
  headers['ETag'] = entityTagText(tag)
  headers[FLAG_SET_VERSION_HEADER] = String(tag.version)
  if (json === null) return { status: 304, headers, body: null }
  headers['Content-Type'] = 'application/json; charset=utf-8'
  return { status: 200, headers, body: json }
}
