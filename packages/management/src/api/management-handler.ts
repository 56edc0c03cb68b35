import { type FlagError, isJsonObject } from '@ff/core'
import { type Endpoint, type EndpointName, endpoints } from '@ff/protocol/management'
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
  tooManyRequests,
} from '@ff/server/plane'
import * as z from 'zod'
import { type Actor, ANONYMOUS } from '../access/actors.ts'
import { assertPermittedOnInstallation } from '../access/permissions.ts'
import type { ChangeCall, ChangeServices } from '../changes/apply-change.ts'
import type { UseCase } from '../changes/use-case.ts'
import { docsPage } from '../openapi/docs-page.ts'
import { OPENAPI_PATH, openApiReplier } from '../openapi/openapi.ts'
import type { ReadDocsAsset } from '../ports/docs-assets.ts'
import type { AnyInput } from '../requests/input.ts'
import { WithHeaders } from '../requests/with-headers.ts'
import { assertNotForged, type IdentifyingServices, identify } from './identify.ts'
import { linesReply } from './lines-reply.ts'
import { idempotentRequestOf, readInput, revisionTag } from './request-input.ts'
import { findRoute } from './routes.ts'
import type { UseCases } from './use-cases.ts'

/** The services of the server that the handler uses. */
type UsedServices = Pick<
  ServerServices,
  'basePath' | 'trustProxy' | 'logger' | 'clock' | 'metrics' | 'rateLimiter'
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
  const { rateLimiter, clock, logger } = services
  const openApi = openApiReplier(services)
  const findDocs = docsPage(services.readDocsAsset)
  const limiter = new RequestLimiter({ limiter: rateLimiter, clock, logger })
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
  assertNotForged(exchange, services.trustProxy)
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
  { useCases, changeServices }: ManagementServices,
  call: ChangeCall,
  { name, exchange, params }: PerformInput,
): Promise<Reply> {
  const endpoint: Endpoint = endpoints[name]
  // The type of `UseCases` guarantees that this use case accepts the input of this endpoint.
  const useCase = useCases[name] as UseCase<AnyInput, unknown>
  const input = await readInput(endpoint, exchange, params)
  const key = endpoint.method === 'POST' ? exchange.header('idempotency-key') : undefined
  const idempotentRequest =
    key === undefined ? undefined : await idempotentRequestOf(key, name, { ...call, input })
  const outcome = await useCase(changeServices, { ...call, idempotentRequest }, input)
  const { result, headers, cookies } =
    outcome instanceof WithHeaders ? outcome : new WithHeaders(outcome)
  if (endpoint.lines) return linesReply(endpoint, result as AsyncIterable<unknown>)
  const reply = await runInTimeSlices(toReply(endpoint, result, headers))
  return { ...reply, cookies }
}

/** Encodes a result as the reply of an endpoint. The caller can pause the work at each `yield`. */
function* toReply(
  { status, response }: Endpoint,
  result: unknown,
  headers: Headers,
): Generator<undefined, Reply> {
  const text = yield* toJson(response, result)
  yield
  return {
    status,
    headers: { ...entityTagOf(result), ...headers, 'Content-Type': JSON_TYPE },
    body: `{"statusCode":${status},"message":"OK","data":${text}}`,
  }
}

/** Encodes a result as JSON text. A list is encoded item by item, because it can be long. */
function* toJson(codec: z.ZodType, result: unknown): Generator<undefined, string> {
  if (!(codec instanceof z.ZodArray && Array.isArray(result))) {
    const data = z.encode(codec, result)
    yield
    return JSON.stringify(data)
  }
  const items: string[] = []
  for (const item of result) {
    items.push(yield* toJson(codec.element as z.ZodType, item))
    yield
  }
  return `[${items.join(',')}]`
}

/** Returns the header `ETag` if the result is one record; otherwise no header. */
function entityTagOf(result: unknown): Record<string, string> {
  if (!isJsonObject(result)) return {}
  const record = isJsonObject(result['rule']) ? result['rule'] : result
  return typeof record['revision'] === 'number' ? { ETag: revisionTag(record['revision']) } : {}
}
