import { FlagError, isJsonObject } from '@ff/core'
import { type Endpoint, type EndpointName, endpoints } from '@ff/protocol/management'
import * as z from 'zod'
import { type AuthenticateBearer, NOBODY } from '../access/actors.ts'
import {
  type Installation,
  type Management,
  type UseCase,
  WithHeaders,
} from '../management/management.ts'
import { useCases } from '../management/use-cases.ts'
import { runInSlices } from '../slice.ts'
import { managementErrorReply } from './error-reply.ts'
import { type Exchange, type Headers, JSON_TYPE, type Reply } from './exchange.ts'
import { idempotentRequestOf } from './idempotency-key.ts'
import { assertNotForged, identify } from './identify.ts'
import { linesReply } from './lines-reply.ts'
import { readInput, revisionTag } from './management-request.ts'
import type { Metrics } from './metrics.ts'
import { METRICS_PATH, metricsReply } from './metrics-reply.ts'
import { OPENAPI_PATH, openApiReplier } from './openapi.ts'
import { healthReply, PROBE_PATHS, readyReply } from './probes.ts'
import { findRoute } from './routes.ts'

interface ManagementServices extends Installation {
  readonly basePath: string
  readonly authenticateBearer: AuthenticateBearer
  readonly metrics: Metrics
  readonly metricsArePublic: boolean
}

/** What is answered here is for one caller, now, and is never a page. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

/**
 * Answers every path that is not the SDK's: the endpoint table, its description, the probes, and 404.
 * Without a token, only what names no data is answered. Never throws.
 */
export function createManagementApp(
  services: ManagementServices,
): (exchange: Exchange) => Promise<Reply> {
  const openApi = openApiReplier(services)
  return async (exchange) => {
    const reply = await answer({ ...services, openApi }, exchange).catch((error: unknown) =>
      managementErrorReply(error, services.logger),
    )
    const headers = { ...HEADERS, ...reply.headers }
    return { ...reply, headers, body: exchange.method === 'HEAD' ? headBodyOf(reply) : reply.body }
  }
}

/** The bindings leave a body out but tell its length; pieces would be made for nothing. */
function headBodyOf({ body }: Reply): Reply['body'] {
  return typeof body === 'string' || body instanceof Uint8Array ? body : null
}

/** HEAD is GET without the body. */
function methodOf({ method }: Exchange): string {
  return method === 'HEAD' ? 'GET' : method
}

async function answer(
  { openApi, ...services }: ManagementServices & { openApi: ReturnType<typeof openApiReplier> },
  exchange: Exchange,
): Promise<Reply> {
  const { storage, clock } = services
  if (exchange.path === PROBE_PATHS.health) return onlyGet(exchange, healthReply)
  if (exchange.path === PROBE_PATHS.ready)
    return onlyGet(exchange, () => readyReply(storage, clock))
  if (exchange.path === OPENAPI_PATH) return onlyGet(exchange, () => openApi(exchange))
  if (exchange.path === METRICS_PATH)
    return onlyGet(exchange, () => metricsReply(services, exchange))
  const route = findRoute(exchange.path)
  if (route === undefined) throw new FlagError('NOT_FOUND', 'There is no such path.')
  const name = route.methods.get(methodOf(exchange))
  const isOpen = name !== undefined && (endpoints[name] as Endpoint).permission === 'anyone'
  assertNotForged(exchange, services.trustProxy)
  const actor = isOpen ? NOBODY : await identify(services, exchange)
  if (name === undefined) throw methodNotAllowed([...route.methods.keys()])
  return perform({ ...services, actor, caller: exchange }, name, { exchange, params: route.params })
}

async function perform(
  management: Management,
  name: EndpointName,
  { exchange, params }: { exchange: Exchange; params: Readonly<Record<string, string>> },
): Promise<Reply> {
  const endpoint: Endpoint = endpoints[name]
  // The table's type ties each use case to its own endpoint; here only that tie matters.
  const useCase = useCases[name] as UseCase<Endpoint>
  const input = await readInput(endpoint, exchange, params)
  const key = endpoint.method === 'POST' ? exchange.header('idempotency-key') : undefined
  const idempotentRequest =
    key === undefined ? undefined : await idempotentRequestOf(key, name, { ...management, input })
  const outcome = await useCase({ ...management, idempotentRequest }, input)
  const { result, headers } =
    outcome instanceof WithHeaders ? outcome : { result: outcome, headers: {} }
  if (endpoint.lines)
    return linesReply(endpoint, result as AsyncIterable<unknown>, management.logger)
  return runInSlices(toReply(endpoint, result, headers))
}

/** Encodes and writes a result. The work may be interrupted at each `yield`. */
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

/** A list is written item by item, for it may be long. */
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

/** The revision of the record that is answered, if it is one record. */
function entityTagOf(result: unknown): Record<string, string> {
  if (!isJsonObject(result)) return {}
  const record = isJsonObject(result['rule']) ? result['rule'] : result
  return typeof record['revision'] === 'number' ? { ETag: revisionTag(record['revision']) } : {}
}

function onlyGet(exchange: Exchange, reply: () => Reply | Promise<Reply>): Reply | Promise<Reply> {
  if (methodOf(exchange) !== 'GET') throw methodNotAllowed(['GET'])
  return reply()
}

function methodNotAllowed(methods: readonly string[]): FlagError {
  const allow = methods
    .flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method))
    .join(', ')
  return new FlagError('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { details: { allow } })
}
