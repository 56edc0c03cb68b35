import { type EvaluationContext, FlagError, type FlagSet, parseContext } from '@ff/core'
import { stepAt } from '@ff/core/changes'
import { valuesHash } from '@ff/core/fingerprint'
import {
  asEvaluateRequest,
  fromOpenFeatureContext,
  MAX_BODY_BYTES,
  OFREP_PATHS,
  OFREP_POSITION_PARAMETER,
  OFREP_TOKEN_PARAMETER,
  SDK_KEY_HEADER,
} from '@ff/protocol/sdk'
import type { EnvironmentScope } from '../access/scope.ts'
import { StreamTokens } from '../access/stream-tokens.ts'
import { contextHashOf, type EntityTag, entityTagsIn } from '../evaluation/entity-tag.ts'
import { evaluateTimed, findCurrentTag } from '../evaluation/evaluated.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { ClientBudget } from '../live/client-budget.ts'
import { EventStreams } from '../live/event-streams.ts'
import type { SessionRegistry } from '../live/session-registry.ts'
import { versionIn } from '../live/stream-position.ts'
import type { Clock } from '../runtime/clock.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { ofrepErrorReply } from './error-reply.ts'
import { type Exchange, JSON_TYPE, type JsonBody, jsonReply, type Reply } from './exchange.ts'
import { isBroken, ofrepItems } from './ofrep-answer.ts'
import { OFREP_FLAG_TEMPLATE, sdkTemplateOf } from './paths.ts'
import { evaluationReply, noHeaders, type SdkHeaders } from './sdk-reply.ts'
import {
  type AdmissionOptions,
  admit,
  admitScope,
  replyOfRoute,
  type SdkRoute,
  type SdkRoutes,
  sizeOf,
} from './sdk-routes.ts'

interface OfrepEndpointsOptions extends AdmissionOptions {
  readonly basePath: string
  readonly scheduler: EvaluationScheduler
  readonly usage: UsageRecorder
  readonly clock: Clock
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
}

/** An evaluation that was requested over OFREP. */
interface OfrepRequest {
  readonly scope: EnvironmentScope
  readonly context: EvaluationContext
  /** The context as JSON. */
  readonly text: string
  /** The version that the client knows to exist; 0 if it knows none. */
  readonly version: number
  readonly headers: SdkHeaders
  readonly body: JsonBody
}

/** A request for all flags. */
interface BulkRequest extends OfrepRequest {
  /** The entity tags of the answers that the client has. */
  readonly tags: readonly EntityTag[]
  /** The path and query of the event stream. */
  readonly streamUri: string
}

/** The time after which a page in the background closes its event stream, in seconds. */
const INACTIVITY_SECONDS = 120

/** Few headers, because Node keeps them in memory while the stream is open. */
const STREAM_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Compressing middleware and proxies would delay events.
  'Cache-Control': 'no-cache, no-store, no-transform',
  'X-Accel-Buffering': 'no',
} as const

/** Handles the requests of OpenFeature's remote evaluation protocol (OFREP). */
export class OfrepEndpoints {
  readonly #options: OfrepEndpointsOptions
  readonly #tokens: StreamTokens
  readonly #streams: EventStreams
  readonly #routes: SdkRoutes = new Map<string, SdkRoute>([
    [OFREP_PATHS.flags, { allowed: 'POST', reply: (...call) => this.#evaluateAll(...call) }],
    [OFREP_FLAG_TEMPLATE, { allowed: 'POST', reply: (...call) => this.#evaluateOne(...call) }],
    [OFREP_PATHS.events, { allowed: 'GET', reply: (...call) => this.#stream(...call) }],
  ])

  constructor(options: OfrepEndpointsOptions) {
    this.#options = options
    this.#tokens = new StreamTokens(options)
    this.#streams = new EventStreams(options)
  }

  /** Handles a request. Never rejects. */
  async handle(exchange: Exchange): Promise<Reply> {
    const { basePath } = this.#options
    const { path } = exchange
    const headers = noHeaders(true)
    const template = sdkTemplateOf(path) ?? path
    try {
      return await replyOfRoute(this.#routes, { exchange, headers, basePath, template })
    } catch (error) {
      const key = template === OFREP_FLAG_TEMPLATE ? flagKeyIn(path) : undefined
      return ofrepErrorReply(error, headers, key)
    }
  }

  async #evaluateAll(exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
    const request = await this.#read(exchange, headers)
    const header = exchange.header('if-none-match')
    const tags = header === undefined ? [] : entityTagsIn(header)
    const streamUri = await this.#streamUriFor(request.scope)
    const bulk = { ...request, tags, streamUri }
    const newest = Math.max(request.version, ...tags.map(({ version }) => version))
    return this.#evaluate({ ...bulk, version: newest }, (flagSet) => {
      if (flagSet.version < newest) headers['X-FF-Restored'] = 'true'
      return this.#bulkReply(bulk, flagSet)
    })
  }

  async #evaluateOne(exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
    const key = flagKeyIn(exchange.path)
    const request = await this.#read(exchange, headers)
    const { scope, context, text } = request
    const { clock, usage } = this.#options
    return this.#evaluate(request, (flagSet) => {
      headers['X-FF-Version'] = String(flagSet.version)
      if (!flagSet.flags.has(key)) {
        const errorDetails = 'The flag does not exist, or is not visible to this SDK key.'
        return jsonReply(404, { key, errorCode: 'FLAG_NOT_FOUND', errorDetails }, headers)
      }
      const now = clock.now()
      const evaluated = evaluateTimed({ flagSet, context, now, flagKeys: [key] })
      usage.evaluated(scope, 'rest', evaluated, contextHashOf(scope, text))
      const [item = null] = ofrepItems(evaluated.evaluation)
      const status = isBroken(evaluated.evaluation, 0) ? 400 : 200
      return { status, headers: { ...headers, 'Content-Type': JSON_TYPE }, body: item }
    })
  }

  /** Opens the event stream of the environment of a token. */
  async #stream(exchange: Exchange, headers: SdkHeaders): Promise<Reply> {
    const { cache } = this.#options
    const token = new URLSearchParams(exchange.query).get(OFREP_TOKEN_PARAMETER) ?? ''
    const scope = await this.#tokens.verify(token)
    await admitScope(this.#options, scope, headers)
    const lastEventId = exchange.header('last-event-id')
    const loaded = await cache.getAtLeast(scope, versionIn(lastEventId ?? ''))
    const stream = this.#streams.open({ scope, loaded, lastEventId })
    const body = { [Symbol.asyncIterator]: () => stream }
    return { status: 200, headers: STREAM_HEADERS, body }
  }

  async #read(exchange: Exchange, headers: SdkHeaders): Promise<OfrepRequest> {
    const scope = await admit(this.#options, exchange, headers, sdkKeyOf(exchange))
    const body = await exchange.json(MAX_BODY_BYTES)
    const request = asEvaluateRequest(body.parse())
    if (request === undefined)
      throw new FlagError('INVALID_CONTEXT', '`context` must be an object.')
    const context = parseContext(fromOpenFeatureContext(request.context))
    const position = new URLSearchParams(exchange.query).get(OFREP_POSITION_PARAMETER)
    const version = versionIn(position ?? '')
    return { scope, context, text: JSON.stringify(context), version, headers, body }
  }

  /** Runs an evaluation with the current flag set, which has at least the version of the request. */
  async #evaluate(request: OfrepRequest, reply: (flagSet: FlagSet) => Reply): Promise<Reply> {
    const { cache, scheduler, usage } = this.#options
    const { scope, version, body } = request
    const loaded = await cache.getAtLeast(scope, version)
    return scheduler.run(scope, sizeOf(body), () => {
      usage.requested(scope)
      return reply(cache.find(scope) ?? loaded)
    })
  }

  #bulkReply({ scope, context, text, tags, headers, streamUri }: BulkRequest, flagSet: FlagSet) {
    const { clock, usage } = this.#options
    const now = clock.now()
    // A client that receives 304 keeps the address of its event stream, which must be valid.
    const contextHash = contextHashOf(scope, `${streamUri} ${text}`)
    const known = findCurrentTag(flagSet, { tags, contextHash, now })
    if (known !== undefined) return evaluationReply({ tag: known, json: null }, headers)
    const evaluated = evaluateTimed({ flagSet, context, now })
    usage.evaluated(scope, 'rest', evaluated, contextHashOf(scope, text))
    const { evaluation } = evaluated
    const { version } = flagSet
    const tag = {
      version,
      step: stepAt(flagSet, now),
      contextHash,
      valuesHash: valuesHash(evaluation),
    }
    const stream = {
      type: 'sse',
      endpoint: { requestUri: streamUri },
      inactivityDelaySec: INACTIVITY_SECONDS,
    }
    const rest = JSON.stringify({ metadata: { version }, eventStreams: [stream] }).slice(1)
    const json = `{"flags":[${ofrepItems(evaluation).join(',')}],${rest}`
    return evaluationReply({ tag, json }, headers)
  }

  async #streamUriFor(scope: EnvironmentScope): Promise<string> {
    const { basePath } = this.#options
    const token = await this.#tokens.tokenFor(scope)
    return `${basePath}${OFREP_PATHS.events}?${OFREP_TOKEN_PARAMETER}=${token}`
  }
}

/** Returns the SDK key in `X-API-Key`, or as a bearer token in `Authorization`. */
function sdkKeyOf(exchange: Exchange): string | undefined {
  const key = exchange.header(SDK_KEY_HEADER)
  return key ?? /^bearer +(.*)$/i.exec(exchange.header('authorization') ?? '')?.[1]
}

/** Returns the key of the flag in a path. A key with a wrong escape sequence is returned as it is. */
function flagKeyIn(path: string): string {
  const encoded = path.slice(OFREP_PATHS.flags.length + 1)
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
