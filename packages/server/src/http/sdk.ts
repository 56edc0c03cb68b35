import { type EvaluationContext, FlagError, type FlagSet, parseContext } from '@ff/core'
import {
  asEvaluateRequest,
  asPollRequest,
  MAX_BODY_BYTES,
  MAX_POLL_BODY_BYTES,
  SDK_PATHS,
} from '@ff/protocol/sdk'
import type { FlagSetScope } from '../access/scope.ts'
import {
  contextHashOf,
  contextTextIn,
  type EntityTag,
  entityTagsIn,
} from '../evaluation/entity-tag.ts'
import { type EvaluationAnswer, evaluationAnswer, findCurrentTag } from '../evaluation/evaluated.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { FlagSetUpdates } from '../evaluation/flag-set-updates.ts'
import type { ClientBudget } from '../live/client-budget.ts'
import type { SessionRegistry } from '../live/session-registry.ts'
import type { Clock } from '../runtime/clock.ts'
import { mapMaybeAsync } from '../runtime/map-maybe-async.ts'
import { CountedReports } from '../usage/counted-reports.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { sdkErrorReply } from './error-reply.ts'
import { eventsReply } from './events-reply.ts'
import type { Exchange, JsonBody, Reply } from './exchange.ts'
import { FlagSetEndpoints } from './flag-set-endpoints.ts'
import { LongPolls, type PollRequest } from './long-polls.ts'
import { OfrepEndpoints } from './ofrep.ts'
import { isOfrepPath } from './paths.ts'
import { PendingPolls } from './pending-polls.ts'
import { evaluationReply, noHeaders, type SdkHeaders } from './sdk-reply.ts'
import {
  type AdmissionOptions,
  admit,
  replyOfRoute,
  type SdkRoute,
  type SdkRoutes,
  sizeOf,
} from './sdk-routes.ts'

interface SdkEndpointsOptions extends AdmissionOptions {
  readonly basePath: string
  readonly scheduler: EvaluationScheduler
  readonly updates: FlagSetUpdates
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly clock: Clock
  readonly usage: UsageRecorder
  /** `true` if requests of OFREP are served. */
  readonly hasOfrep: boolean
}

/** Handles the requests of the SDK endpoints. */
export class SdkEndpoints {
  readonly #options: SdkEndpointsOptions
  readonly #polls: LongPolls
  readonly #flagSets: FlagSetEndpoints
  readonly #ofrep: OfrepEndpoints | undefined
  readonly #reports: CountedReports
  readonly #routes: SdkRoutes = new Map<string, SdkRoute>([
    [SDK_PATHS.evaluate, { allowed: 'POST', reply: (...call) => this.#evaluate(...call) }],
    [SDK_PATHS.poll, { allowed: 'POST', reply: (...call) => this.#poll(...call) }],
    [SDK_PATHS.flagSet, { allowed: 'GET', reply: (...call) => this.#flagSet(...call) }],
    [SDK_PATHS.flagSetPoll, { allowed: 'POST', reply: (...call) => this.#flagSetPoll(...call) }],
    [SDK_PATHS.events, { allowed: 'POST', reply: (...call) => this.#events(...call) }],
    [SDK_PATHS.socket, { allowed: 'GET', reply: refuseWithoutUpgrade }],
  ])

  constructor(options: SdkEndpointsOptions) {
    this.#options = options
    this.#reports = new CountedReports(options.clock)
    const held = { ...options, pending: new PendingPolls(options.clock) }
    this.#polls = new LongPolls(held)
    this.#flagSets = new FlagSetEndpoints(held)
    this.#ofrep = options.hasOfrep ? new OfrepEndpoints(options) : undefined
  }

  /** Handles a request. Neither throws nor rejects. */
  handle(exchange: Exchange): Reply | Promise<Reply> {
    if (this.#ofrep !== undefined && isOfrepPath(exchange.path)) return this.#ofrep.handle(exchange)
    const headers = noHeaders(isForPages(exchange.path))
    const refuse = (error: unknown) => sdkErrorReply(error, headers)
    try {
      const { basePath } = this.#options
      const reply = replyOfRoute(this.#routes, { exchange, headers, basePath })
      // The promise of a poll never rejects, and a second promise for each poll would use memory.
      const mayReject = reply instanceof Promise && exchange.path !== SDK_PATHS.poll
      return mayReject ? reply.catch(refuse) : reply
    } catch (error) {
      return refuse(error)
    }
  }

  #evaluate(exchange: Exchange, headers: SdkHeaders): Reply | Promise<Reply> {
    const { cache, scheduler, usage, clock } = this.#options
    return mapMaybeAsync(admit(this.#options, exchange, headers), (scope) =>
      mapMaybeAsync(exchange.json(MAX_BODY_BYTES), (body) => {
        const header = exchange.header('if-none-match')
        const request = { scope, body, tags: header === undefined ? [] : entityTagsIn(header) }
        return mapMaybeAsync(findAtLeast(request, cache) ?? loadFor(request, cache), (loaded) => {
          // A slow request can wait for a later turn. It then uses the flag set that is current in
          // that turn.
          const work = () => {
            const flagSet = cache.find(scope) ?? loaded
            const answer = answerTo(request, flagSet, clock.now())
            if (isRestored(request, flagSet)) headers['X-FF-Restored'] = 'true'
            usage.requested(scope)
            usage.answered(scope, 'rest', answer)
            return evaluationReply(answer, headers)
          }
          return scheduler.run(scope, sizeOf(body), work)
        })
      }),
    )
  }

  /**
   * Returns the reply to a poll. This is the only promise that stays pending for the poll. It never
   * rejects.
   */
  #poll(exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
    return new Promise((resolve) => {
      this.#beginPoll({ exchange, headers, resolve }).catch((error: unknown) => {
        resolve(sdkErrorReply(error, headers))
      })
    })
  }

  async #beginPoll({
    exchange,
    headers,
    resolve,
  }: Omit<PollRequest, 'scope' | 'context' | 'since'>): Promise<void> {
    const { scheduler, usage } = this.#options
    const scope = await admit(this.#options, exchange, headers)
    const body = await exchange.json(MAX_POLL_BODY_BYTES)
    await scheduler.run(scope, sizeOf(body), () => {
      const request = asPollRequest(body.parse())
      if (request === undefined) throw missingContext()
      const context = parseContext(request.context)
      usage.requested(scope)
      return this.#polls.wait({ scope, context, since: request.since, exchange, headers, resolve })
    })
  }

  async #flagSet(exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
    const scope = await admit(this.#options, exchange, headers)
    return this.#flagSets.get({ scope, exchange, headers })
  }

  async #flagSetPoll(exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
    const scope = await admit(this.#options, exchange, headers)
    return this.#flagSets.poll({ scope, exchange, headers })
  }

  async #events(exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
    const scope = await admit(this.#options, exchange, headers)
    return eventsReply({ ...this.#options, reports: this.#reports }, { scope, exchange, headers })
  }
}

/**
 * Returns `true` if pages of other origins may read the replies at a path. Such pages cannot read
 * the flag set, because it contains every rule.
 */
function isForPages(path: string): boolean {
  return path !== SDK_PATHS.flagSet && path !== SDK_PATHS.flagSetPoll
}

function refuseWithoutUpgrade(): never {
  throw new FlagError(
    'INVALID_REQUEST',
    'This path accepts only WebSocket connections. Use ws:// or wss://.',
  )
}

interface EvaluateRequest {
  readonly scope: FlagSetScope
  readonly body: JsonBody
  /** The entity tags of the values that the client has. */
  readonly tags: readonly EntityTag[]
}

/** Returns the cached flag set, unless it is not loaded or the client has a newer version. */
function findAtLeast(request: EvaluateRequest, cache: FlagSetCache): FlagSet | undefined {
  const flagSet = cache.find(request.scope)
  return flagSet === undefined || isRestored(request, flagSet) ? undefined : flagSet
}

/**
 * Loads the flag set after validating the request, so that nothing is loaded for an invalid
 * request.
 */
function loadFor({ scope, body, tags }: EvaluateRequest, cache: FlagSetCache): Promise<FlagSet> {
  contextIn(body)
  return cache.getAtLeast(scope, Math.max(0, ...tags.map(({ version }) => version)))
}

/**
 * Returns `true` if the client has a newer version than this flag set. After the store was read,
 * this means that the store no longer has the client's version.
 */
function isRestored({ tags }: EvaluateRequest, { version }: FlagSet): boolean {
  return tags.some((tag) => tag.version > version)
}

/**
 * Returns the values of a context. Does not parse the body if the client repeats its request and
 * already has the current values.
 */
function answerTo(
  { scope, body, tags }: EvaluateRequest,
  flagSet: FlagSet,
  now: number,
): EvaluationAnswer {
  const text = body.bytes && contextTextIn(body.bytes)
  const parsed = text === undefined ? contextIn(body) : undefined
  const contextHash = contextHashOf(scope, text ?? JSON.stringify(parsed))
  const tag = findCurrentTag(flagSet, { tags, contextHash, now })
  if (tag !== undefined) return { tag, json: null }
  return evaluationAnswer(flagSet, { context: parsed ?? contextIn(body), contextHash, now })
}

function contextIn(body: JsonBody): EvaluationContext {
  const request = asEvaluateRequest(body.parse())
  if (request === undefined) throw missingContext()
  return parseContext(request.context)
}

function missingContext(): FlagError {
  return new FlagError('INVALID_REQUEST', 'The body must be a JSON object such as {"context":{…}}.')
}
