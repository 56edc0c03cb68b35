import { type FlagError, isJsonObject } from '@ff/core'
import {
  type Endpoint,
  type EndpointName,
  endpoints,
  type Permission,
} from '@ff/protocol/management'
import { isTagNamedIn } from '@ff/protocol/sdk'
import {
  answerGet,
  type Exchange,
  type Headers,
  JSON_TYPE,
  METRICS_PATH,
  methodNotAllowed,
  methodOf,
  metricsReply,
  noRoute,
  privateReply,
  type RateLimitHeaders,
  type Reply,
  RequestLimiter,
  runInTimeSlices,
  type ServerServices,
  setRateLimitHeaders,
  sha256,
  textReply,
  tooManyRequests,
} from '@ff/server/plane'
import { type Actor, ANONYMOUS } from '../access/actors.ts'
import { type Ids, loadPath } from '../access/paths.ts'
import { assertPermittedOnInstallation, unauthenticated } from '../access/permissions.ts'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import type { UseCase } from '../changes/use-case.ts'
import { docsPage } from '../openapi/docs-page.ts'
import { OPENAPI_PATH, openApiReplier } from '../openapi/openapi.ts'
import type { ReadDocsAsset } from '../ports/docs-assets.ts'
import type { AnyInput } from '../requests/input.ts'
import { WithHeaders } from '../requests/with-headers.ts'
import { encodeJson } from './encode-json.ts'
import { eventsReply } from './events-reply.ts'
import { assertNotForged, type IdentifyingServices, identify } from './identify.ts'
import { linesReply } from './lines-reply.ts'
import { idempotentRequestOf, readInput, revisionTag } from './request-input.ts'
import { findRoute } from './routes.ts'
import type { UseCases } from './use-cases.ts'

/** The services of the server that the handler uses. */
type UsedServices = Pick<
  ServerServices,
  'basePath' | 'logger' | 'clock' | 'metrics' | 'rateLimiter' | 'instance'
>

interface ManagementServices extends IdentifyingServices, UsedServices {
  readonly changeServices: ChangeServices
  readonly useCases: UseCases
  /** The maximum number of requests of each actor per minute. */
  readonly managementRateLimit: number
  /** Reads the files of the API page; `undefined` if there is no page. */
  readonly readDocsAsset: ReadDocsAsset | undefined
}

/** The objects that all requests share, and the rate limit headers of one request. */
interface Answering {
  readonly openApi: ReturnType<typeof openApiReplier>
  readonly findDocs: ReturnType<typeof docsPage>
  readonly limiter: RequestLimiter
  /** The rate limit headers; empty until the actor is identified. */
  readonly limits: Partial<RateLimitHeaders>
}

/**
 * Creates the handler of the management paths: the endpoints, their OpenAPI description, the API
 * page, and the metrics. For any other path it responds with `NOT_FOUND`. All paths except the description,
 * the page and open endpoints require credentials. The promise that the handler returns never rejects.
 */
export function createManagementHandler(
  services: ManagementServices,
): (exchange: Exchange) => Promise<Reply> {
  const { rateLimiter, instance, clock, logger } = services
  const openApi = openApiReplier(services)
  const findDocs = docsPage(services.readDocsAsset)
  const limiter = new RequestLimiter({ limiter: rateLimiter, instance, clock, logger })
  return (exchange) => {
    const limits: Partial<RateLimitHeaders> = {}
    const answering = { openApi, findDocs, limiter, limits }
    const reply = () => answer(services, answering, exchange)
    return privateReply(exchange, reply, limits)
  }
}

async function answer(
  services: ManagementServices,
  answering: Answering,
  exchange: Exchange,
): Promise<Reply> {
  if (exchange.path === OPENAPI_PATH) return answerGet(exchange, () => answering.openApi(exchange))
  const docs = answering.findDocs(exchange.path)
  if (docs !== undefined) return answerGet(exchange, docs)
  if (exchange.path === METRICS_PATH)
    return answerGet(exchange, () => platformMetricsReply(services, exchange))
  const route = findRoute(exchange.path)
  if (route === undefined) throw noRouteBelow(services.basePath, exchange)
  const name = route.methods.get(methodOf(exchange))
  const isOpen = name !== undefined && (endpoints[name] as Endpoint).permission === 'anyone'
  if (isOpen) assertNotForged(exchange, services.trustProxy)
  const actor = isOpen ? ANONYMOUS : await identify(services, exchange)
  if (!isOpen) await takeRequest(services, answering, actor)
  if (name === undefined) throw methodNotAllowed([...route.methods.keys()])
  return perform(services, { actor, caller: exchange }, { name, exchange, params: route.params })
}

function noRouteBelow(basePath: string, { method, path }: Exchange): FlagError {
  return noRoute({ method, path: basePath + path }, `see ${basePath}${OPENAPI_PATH}`)
}

/** Returns the metrics. Throws `FORBIDDEN` unless the caller has the role `platform`. */
async function platformMetricsReply(
  services: ManagementServices,
  exchange: Exchange,
): Promise<Reply> {
  const actor = await identify(services, exchange)
  assertPermittedOnInstallation({ actor, permission: 'configuration.read' })
  return metricsReply(services.metrics)
}

/**
 * Counts a request of the actor and sets the rate limit headers of the response. Throws
 * `RATE_LIMITED` if the actor has no requests left in this minute.
 */
async function takeRequest(
  { managementRateLimit: rateLimit }: ManagementServices,
  { limiter, limits }: Answering,
  { id }: Actor,
): Promise<void> {
  const permit = await limiter.take({ keyId: `management:${id}`, rateLimit })
  setRateLimitHeaders(permit, limits)
  if (!permit.granted) throw tooManyRequests({ of: 'user or access token' })
}

interface PerformInput {
  readonly name: EndpointName
  readonly exchange: Exchange
  readonly params: Readonly<Record<string, string>>
}

async function perform(
  services: ManagementServices,
  call: ChangeCall,
  { name, exchange, params }: PerformInput,
): Promise<Reply> {
  const { useCases, changeServices } = services
  const endpoint: Endpoint = endpoints[name]
  // The type of `UseCases` guarantees that this use case accepts the input of this endpoint.
  const useCase = useCases[name] as UseCase<AnyInput, unknown>
  const input = await readInput(endpoint, exchange, params)
  const key = isRepeatable(endpoint) ? exchange.header('idempotency-key') : undefined
  const idempotentRequest =
    key === undefined ? undefined : await idempotentRequestOf(key, name, { ...call, input })
  const outcome = await useCase(changeServices, { ...call, idempotentRequest }, input)
  const { result, headers, cookies } =
    outcome instanceof WithHeaders ? outcome : new WithHeaders(outcome)
  if (endpoint.lines) return linesReply(endpoint, result as AsyncIterable<unknown>)
  if (endpoint.events) {
    const { clock } = services
    const recheck = () => assertAccess(services, { endpoint, exchange, input, actor: call.actor })
    return eventsReply(endpoint, result as AsyncIterable<unknown>, { clock, recheck })
  }
  const encoded = await runInTimeSlices(toReply(endpoint, result, headers))
  const reply = endpoint.conditional ? await unlessKnown(exchange, encoded) : encoded
  return { ...reply, cookies }
}

interface OpenReply {
  readonly endpoint: Endpoint
  readonly exchange: Exchange
  readonly input: AnyInput
  readonly actor: Actor
}

/**
 * Throws if the caller of a reply that is still being sent has lost its access. Does not count as a
 * use of its session.
 */
async function assertAccess(
  services: ManagementServices,
  { endpoint, exchange, input, actor: before }: OpenReply,
): Promise<void> {
  const actor = await identify(services, exchange, { isUse: false })
  if (actor.id !== before.id) throw unauthenticated('The credentials belong to another user.')
  const permission = endpoint.permission as Permission
  await loadPath(services.storage, { actor, permission }, input.params as Ids)
}

/** Returns `true` if requests to the endpoint can have an `Idempotency-Key`. */
function isRepeatable({ method }: Endpoint): boolean {
  return method === 'POST' || method === 'PUT'
}

type EncodedReply = Reply & { readonly body: string }

/** Encodes a result as the reply of an endpoint. The caller can pause the work at each `yield`. */
function* toReply(
  { status, response }: Endpoint,
  result: unknown,
  headers: Headers,
): Generator<undefined, EncodedReply> {
  const text = yield* encodeJson(response, result)
  yield
  return {
    status,
    headers: { ...entityTagOf(result), ...headers, 'Content-Type': JSON_TYPE },
    body: `{"statusCode":${status},"message":"OK","data":${text}}`,
  }
}

/**
 * Returns the reply with an entity tag that identifies its body, compressed if the client accepts
 * it, or 304 if the client has this body already. Every change of the body changes the tag.
 */
async function unlessKnown(exchange: Exchange, reply: EncodedReply): Promise<Reply> {
  // The tag is weak, because compressed replies have the same tag.
  const tag = `W/"${(await sha256(reply.body)).slice(0, 32)}"`
  const headers = { ...reply.headers, ETag: tag }
  if (isTagNamedIn(exchange.header('if-none-match'), tag))
    return { status: 304, headers: { ETag: tag }, body: null }
  const acceptEncoding = exchange.header('accept-encoding')
  const { compressors = {} } = exchange
  return textReply({ text: reply.body }, { acceptEncoding, compressors, headers })
}

/** Returns the header `ETag` if the result is or contains one record; otherwise no header. */
function entityTagOf(result: unknown): Record<string, string> {
  if (!isJsonObject(result)) return {}
  const record = [result['rule'], result['configuration'], result].find(isJsonObject)
  const revision = record?.['revision']
  return typeof revision === 'number' ? { ETag: revisionTag(revision) } : {}
}
