import { type EvaluationContext, FlagError, type FlagSet, parseContext } from '@ff/core'
import {
  asEvaluateRequest,
  asPollRequest,
  MAX_BODY_BYTES,
  MAX_POLL_BODY_BYTES,
  SDK_KEY_HEADER,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import type { ContextSample } from '@ff/storage'
import { type RequestLimiter, tooManyRequests } from '../access/rate-limit.ts'
import type { EnvironmentScope, FlagSetScope, SdkKeyVerifier } from '../access/sdk-keys.ts'
import { contextHashOf, contextTextIn, entityTagText } from '../evaluation/entity-tag.ts'
import {
  type EvaluationAnswer,
  evaluationAnswer,
  findCurrentTag,
} from '../evaluation/evaluation-answer.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { LongPolls } from '../live/long-polls.ts'
import { PendingPoll, type PollAnswer, type PollHeaders } from '../live/pending-poll.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { mapMaybeAsync } from '../runtime/map-maybe-async.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { sdkErrorReply } from './error-reply.ts'
import { eventsReply } from './events-reply.ts'
import type { Exchange, HandlerResult, JsonBody, Reply } from './exchange.ts'
import { flagSetReply } from './flag-set-reply.ts'
import {
  noHeaders,
  PREFLIGHT_HEADERS,
  type SdkHeaders,
  setRateLimitHeaders,
} from './sdk-headers.ts'

/** The services that the SDK endpoints use. */
export interface SdkOptions {
  readonly cache: FlagSetCache
  readonly scheduler: EvaluationScheduler
  readonly polls: LongPolls
  readonly clock: Clock
  readonly usage: UsageRecorder
  readonly keys: SdkKeyVerifier
  readonly limiter: RequestLimiter
  readonly logger: Logger
}

/** Whether a path belongs to the SDK family: its errors, its CORS headers, no bearer tokens. */
export function isSdkPath(path: string): boolean {
  return path.startsWith('/evaluator/') || path.startsWith('/ws/')
}

/** Handles every request to an SDK path. Neither throws nor rejects. */
export function handleSdk(
  options: SdkOptions,
  exchange: Exchange,
): HandlerResult | Promise<HandlerResult> {
  const { pending } = exchange
  if (pending instanceof PendingPoll) return settledReply(options, pending)
  const headers = noHeaders(isForPages(exchange.path))
  const refuse = (error: unknown) => errorReply(error, headers, options.logger)
  try {
    const result = routeOf(exchange)(options, exchange, headers)
    return result instanceof Promise ? result.catch(refuse) : result
  } catch (error) {
    return refuse(error)
  }
}

function errorReply(error: unknown, headers: PollHeaders, logger: Logger): Reply {
  const reply = sdkErrorReply(error, logger)
  return { ...reply, headers: { ...headers, ...reply.headers } }
}

type Route = (
  options: SdkOptions,
  exchange: Exchange,
  headers: SdkHeaders,
) => HandlerResult | Promise<HandlerResult>

interface Path {
  readonly allowed: string
  readonly route: Route
}

const PATHS: ReadonlyMap<string, Path> = new Map([
  [SDK_PATHS.evaluate, { allowed: 'POST', route: evaluate }],
  [SDK_PATHS.poll, { allowed: 'POST', route: poll }],
  [SDK_PATHS.socket, { allowed: 'GET', route: refuseWithoutUpgrade }],
  [SDK_PATHS.flagSet, { allowed: 'GET', route: flagSet }],
  [SDK_PATHS.events, { allowed: 'POST', route: events }],
])

function routeOf({ method, path }: Exchange): Route {
  const known = PATHS.get(path)
  if (known === undefined) throw new FlagError('NOT_FOUND', 'There is nothing at this path.')
  const { allowed, route } = known
  if (method === allowed) return route
  const allow = `${allowed}, OPTIONS`
  if (method === 'OPTIONS') {
    return (_options, _exchange, headers) => preflight(allow, headers, isForPages(path))
  }
  const message = `Use ${allowed} for this path.`
  throw new FlagError('METHOD_NOT_ALLOWED', message, { details: { allow } })
}

function preflight(allow: string, headers: SdkHeaders, isAllowed: boolean): Reply {
  const allowed = isAllowed && { ...PREFLIGHT_HEADERS, 'Access-Control-Allow-Methods': allow }
  return { status: 204, headers: { ...headers, ...allowed, Allow: allow }, body: null }
}

/** Whether pages of other origins may read answers at a path: the flag set shows every rule. */
function isForPages(path: string): boolean {
  return path !== SDK_PATHS.flagSet
}

function evaluate(
  options: SdkOptions,
  exchange: Exchange,
  headers: SdkHeaders,
): Reply | Promise<Reply> {
  const { cache, scheduler, usage, clock } = options
  return mapMaybeAsync(admit(options, exchange, headers), (scope) =>
    mapMaybeAsync(exchange.json(MAX_BODY_BYTES), (body) => {
      const request = { scope, body, ifNoneMatch: exchange.header('if-none-match') }
      return mapMaybeAsync(cache.find(scope) ?? loadFor(request, cache), (loaded) => {
        // A slow request may wait, and then uses the flags of that later time.
        const work = () => {
          const flagSet = cache.find(scope) ?? loaded
          const answer = answerTo(request, flagSet, clock.now())
          usage.requested(scope)
          recordAnswer(usage, answer, { scope, source: 'rest' })
          return toReply(answer, headers)
        }
        return scheduler.run(scope, sizeOf(body), work)
      })
    }),
  )
}

/** The assumed size of a body that the host has parsed. */
const ASSUMED_BYTES = 4096

function sizeOf({ bytes }: JsonBody): number {
  return bytes?.byteLength ?? ASSUMED_BYTES
}

interface EvaluateRequest {
  readonly scope: FlagSetScope
  readonly body: JsonBody
  readonly ifNoneMatch: string | undefined
}

/** Validates the request first: nothing is loaded for a request that is refused. */
function loadFor({ scope, body }: EvaluateRequest, cache: FlagSetCache): Promise<FlagSet> {
  contextIn(body)
  return cache.get(scope)
}

/** Does not parse the body of a caller that repeats its request and has the current values. */
function answerTo(
  { scope, body, ifNoneMatch }: EvaluateRequest,
  flagSet: FlagSet,
  now: number,
): EvaluationAnswer {
  const text = body.bytes && contextTextIn(body.bytes)
  const parsed = text === undefined ? contextIn(body) : undefined
  const contextHash = contextHashOf(scope, text ?? JSON.stringify(parsed))
  if (ifNoneMatch !== undefined) {
    const tag = findCurrentTag(flagSet, { ifNoneMatch, contextHash, now })
    if (tag !== undefined) return { tag, json: null }
  }
  return evaluationAnswer(flagSet, { context: parsed ?? contextIn(body), contextHash, now })
}

function contextIn(body: JsonBody): EvaluationContext {
  const request = asEvaluateRequest(body.parse())
  if (request === undefined) throw missingContext()
  return parseContext(request.context)
}

function poll(
  options: SdkOptions,
  exchange: Exchange,
  headers: SdkHeaders,
): HandlerResult | Promise<HandlerResult> {
  return mapMaybeAsync(admit(options, exchange, headers), (scope) =>
    mapMaybeAsync(exchange.json(MAX_POLL_BODY_BYTES), (body) => {
      const work = () => {
        const request = asPollRequest(body.parse())
        if (request === undefined) throw missingContext()
        const context = parseContext(request.context)
        options.usage.requested(scope)
        return options.polls.wait({ scope, context, since: request.since, exchange, headers })
      }
      return mapMaybeAsync(options.scheduler.run(scope, sizeOf(body), work), (answer) => {
        if (answer === 'pending') return answer
        return pollReply(options.usage, answer, { scope, headers })
      })
    }),
  )
}

/** The reply to a poll that was pending. */
function settledReply({ usage, logger }: SdkOptions, poll: PendingPoll): Reply {
  const { headers } = poll
  try {
    const answer = poll.takeAnswer()
    // The caller has gone.
    if (answer === undefined) return { status: 204, headers, body: null }
    return pollReply(usage, answer, poll)
  } catch (error) {
    return errorReply(error, headers, logger)
  }
}

function pollReply(
  usage: UsageRecorder,
  answer: PollAnswer,
  { scope, headers }: { readonly scope: FlagSetScope; readonly headers: PollHeaders },
): Reply {
  recordAnswer(usage, answer, { scope, source: 'poll' })
  return { ...toReply(answer, headers), body: answer.bytes }
}

interface AnswerOrigin {
  readonly scope: FlagSetScope
  readonly source: ContextSample['source']
}

/** Records nothing for a caller that had the values already: nothing was evaluated. */
function recordAnswer(
  usage: UsageRecorder,
  { evaluated, tag }: EvaluationAnswer,
  { scope, source }: AnswerOrigin,
): void {
  if (evaluated !== undefined) usage.evaluated(scope, source, evaluated, tag.contextHash)
}

async function flagSet(
  options: SdkOptions,
  exchange: Exchange,
  headers: SdkHeaders,
): Promise<Reply> {
  const scope = await admit(options, exchange, headers)
  return flagSetReply(options.cache, { scope, exchange, headers })
}

async function events(
  options: SdkOptions,
  exchange: Exchange,
  headers: SdkHeaders,
): Promise<Reply> {
  const scope = await admit(options, exchange, headers)
  return eventsReply(options, { scope, exchange, headers })
}

async function refuseWithoutUpgrade(): Promise<Reply> {
  throw new FlagError('INVALID_REQUEST', 'Open a WebSocket at this path.')
}

/** Returns the scope of the SDK key. Throws `UNAUTHENTICATED` and `RATE_LIMITED`. */
function admit(
  { keys, limiter, cache }: SdkOptions,
  exchange: Exchange,
  headers: SdkHeaders,
): EnvironmentScope | Promise<EnvironmentScope> {
  const key = exchange.header(SDK_KEY_HEADER)
  return mapMaybeAsync(keys.find(key) ?? keys.verify(key), (scope) => {
    const version = cache.find(scope)?.version
    if (version !== undefined) headers['X-FF-Version'] = String(version)
    return mapMaybeAsync(limiter.take(scope), (permit) => {
      setRateLimitHeaders(permit, headers)
      if (!permit.granted) throw tooManyRequests()
      return scope
    })
  })
}

function missingContext(): FlagError {
  return new FlagError('INVALID_REQUEST', 'The body must be an object with an object "context".')
}

function toReply({ tag, json }: EvaluationAnswer, headers: PollHeaders): Reply {
  headers['ETag'] = entityTagText(tag)
  headers['X-FF-Version'] = String(tag.version)
  if (json === null) return { status: 304, headers, body: null }
  headers['Content-Type'] = 'application/json; charset=utf-8'
  return { status: 200, headers, body: json }
}
