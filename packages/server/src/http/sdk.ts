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
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { Answer, Evaluator } from '../evaluation/evaluator.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { LongPolls } from '../live/long-polls.ts'
import { ParkedPoll, type PollAnswer } from '../live/parked-poll.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { whenHere } from '../runtime/map-maybe-async.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { sdkErrorReply } from './error-reply.ts'
import { eventsReply } from './events-reply.ts'
import type { Exchange, JsonBody, Outcome, Reply } from './exchange.ts'
import { flagSetReply } from './flag-set-reply.ts'
import { noHeaders, PREFLIGHT_HEADERS, type SdkHeaders, tellLimit } from './sdk-headers.ts'

export interface SdkParts {
  readonly cache: FlagSetCache
  readonly evaluator: Evaluator
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

/** Answers every request to an SDK path; nothing escapes as an exception. */
export function handleSdk(parts: SdkParts, exchange: Exchange): Outcome | Promise<Outcome> {
  const { waiting } = exchange
  const isHeld = waiting instanceof ParkedPoll
  const headers = isHeld ? waiting.headers : noHeaders(isForPages(exchange.path))
  const refuse = (error: unknown) => {
    const reply = sdkErrorReply(error, parts.logger)
    return { ...reply, headers: { ...headers, ...reply.headers } }
  }
  try {
    if (isHeld) return pollReply(parts.usage, waiting.takeAnswer(), waiting.scope, headers)
    const outcome = routeOf(exchange)(parts, exchange, headers)
    return outcome instanceof Promise ? outcome.catch(refuse) : outcome
  } catch (error) {
    return refuse(error)
  }
}

type Route = (
  parts: SdkParts,
  exchange: Exchange,
  headers: SdkHeaders,
) => Outcome | Promise<Outcome>

interface Path {
  readonly allowed: string
  readonly route: Route
}

const PATHS: ReadonlyMap<string, Path> = new Map([
  [SDK_PATHS.evaluate, { allowed: 'POST', route: evaluate }],
  [SDK_PATHS.poll, { allowed: 'POST', route: poll }],
  [SDK_PATHS.socket, { allowed: 'GET', route: askForUpgrade }],
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
    return (_parts, _exchange, headers) => preflight(allow, headers, isForPages(path))
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
  parts: SdkParts,
  exchange: Exchange,
  headers: SdkHeaders,
): Reply | Promise<Reply> {
  const { cache, evaluator, scheduler, usage } = parts
  return whenHere(admit(parts, exchange, headers), (scope) =>
    whenHere(exchange.json(MAX_BODY_BYTES), (body) => {
      const question = { scope, body, ifNoneMatch: exchange.header('if-none-match') }
      return whenHere(cache.find(scope) ?? loadFor(question, cache), (loaded) => {
        // A slow request may wait, and then finds the flags as they are by then.
        const work = () => {
          const flagSet = cache.find(scope) ?? loaded
          const answer = answerTo(question, flagSet, evaluator)
          usage.requested(scope)
          recordAnswer(usage, answer, { scope, source: 'rest' })
          return toReply(answer, headers)
        }
        return scheduler.run(scope, sizeOf(body), work)
      })
    }),
  )
}

/** What a body that the host has parsed takes while its request waits, roughly. */
const ASSUMED_BYTES = 4096

function sizeOf({ bytes }: JsonBody): number {
  return bytes?.byteLength ?? ASSUMED_BYTES
}

interface Question {
  readonly scope: FlagSetScope
  readonly body: JsonBody
  readonly ifNoneMatch: string | undefined
}

/** Nothing is loaded for a question that is to be refused. */
function loadFor({ scope, body }: Question, cache: FlagSetCache): Promise<FlagSet> {
  contextIn(body)
  return cache.get(scope)
}

/** Who asks in the same words as before, and has the answer, is told so without reading them. */
function answerTo(
  { scope, body, ifNoneMatch }: Question,
  flagSet: FlagSet,
  evaluator: Evaluator,
): Answer {
  const text = body.bytes && contextTextIn(body.bytes)
  const parsed = text === undefined ? contextIn(body) : undefined
  const contextHash = contextHashOf(scope, text ?? JSON.stringify(parsed))
  if (ifNoneMatch !== undefined) {
    const tag = evaluator.findTag(flagSet, contextHash, ifNoneMatch)
    if (tag !== undefined) return { tag, json: null }
  }
  return evaluator.answer(flagSet, parsed ?? contextIn(body), contextHash)
}

function contextIn(body: JsonBody): EvaluationContext {
  const request = asEvaluateRequest(body.parse())
  if (request === undefined) throw missingContext()
  return parseContext(request.context)
}

function poll(
  parts: SdkParts,
  exchange: Exchange,
  headers: SdkHeaders,
): Outcome | Promise<Outcome> {
  return whenHere(admit(parts, exchange, headers), (scope) =>
    whenHere(exchange.json(MAX_POLL_BODY_BYTES), (body) => {
      const work = () => {
        const request = asPollRequest(body.parse())
        if (request === undefined) throw missingContext()
        const context = parseContext(request.context)
        parts.usage.requested(scope)
        return parts.polls.wait({ scope, context, since: request.since, exchange, headers })
      }
      return whenHere(parts.scheduler.run(scope, sizeOf(body), work), (answer) => {
        if (answer === 'held') return answer
        return pollReply(parts.usage, answer, scope, headers)
      })
    }),
  )
}

function pollReply(
  usage: UsageRecorder,
  answer: PollAnswer | undefined,
  scope: FlagSetScope,
  headers: SdkHeaders,
): Reply {
  // Who has left is told nothing.
  if (answer === undefined) return { status: 204, headers, body: null }
  recordAnswer(usage, answer, { scope, source: 'poll' })
  return { ...toReply(answer, headers), body: answer.bytes }
}

interface Asked {
  readonly scope: FlagSetScope
  readonly source: ContextSample['source']
}

/** Nothing was evaluated for a caller who had it already. */
function recordAnswer(
  usage: UsageRecorder,
  { evaluated, tag }: Answer,
  { scope, source }: Asked,
): void {
  if (evaluated !== undefined) usage.evaluated(scope, source, evaluated, tag.contextHash)
}

async function flagSet(parts: SdkParts, exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
  const scope = await admit(parts, exchange, headers)
  return flagSetReply(parts.cache, { scope, exchange, headers })
}

async function events(parts: SdkParts, exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
  const scope = await admit(parts, exchange, headers)
  return eventsReply(parts, { scope, exchange, headers })
}

async function askForUpgrade(): Promise<Reply> {
  throw new FlagError('INVALID_REQUEST', 'Open a WebSocket at this path.')
}

/** Whose environment it is, once the key and the rate limit let the request pass. */
function admit(
  { keys, limiter, cache }: SdkParts,
  exchange: Exchange,
  headers: SdkHeaders,
): EnvironmentScope | Promise<EnvironmentScope> {
  const key = exchange.header(SDK_KEY_HEADER)
  return whenHere(keys.find(key) ?? keys.verify(key), (scope) => {
    const version = cache.find(scope)?.version
    if (version !== undefined) headers['X-FF-Version'] = String(version)
    return whenHere(limiter.take(scope), (permit) => {
      tellLimit(permit, headers)
      if (!permit.granted) throw tooManyRequests()
      return scope
    })
  })
}

function missingContext(): FlagError {
  return new FlagError('INVALID_REQUEST', 'The body must be an object with an object "context".')
}

function toReply({ tag, json }: Answer, headers: SdkHeaders): Reply {
  headers['ETag'] = entityTagText(tag)
  headers['X-FF-Version'] = String(tag.version)
  if (json === null) return { status: 304, headers, body: null }
  headers['Content-Type'] = 'application/json; charset=utf-8'
  return { status: 200, headers, body: json }
}
