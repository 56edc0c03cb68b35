import { FlagError, isJsonObject } from '@ff/core'
import { type Endpoint, type EndpointName, endpoints } from '@ff/protocol/management'
import type { ChangeFeed, Storage } from '@ff/storage'
import * as z from 'zod'
import { type AuthenticateBearer, requireActor } from '../access/actors.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { Management, UseCase } from '../management/management.ts'
import { useCases } from '../management/use-cases.ts'
import { managementErrorReply } from './error-reply.ts'
import { type Exchange, jsonReply, type Reply } from './exchange.ts'
import { idempotentRequestOf } from './idempotency-key.ts'
import { linesReply } from './lines-reply.ts'
import { readInput, revisionTag } from './management-request.ts'
import { healthReply, PROBE_PATHS, readyReply } from './probes.ts'
import { findRoute } from './routes.ts'

interface ManagementServices {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly logger: Logger
  readonly authenticateBearer: AuthenticateBearer
}

/** What is answered here is for one caller, now, and is never a page. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

/**
 * Answers every path that is not the SDK's: the endpoint table, the two probes, and 404.
 * Without a token nothing but the probes is answered. Never throws.
 */
export function createManagementApp(
  services: ManagementServices,
): (exchange: Exchange) => Promise<Reply> {
  return async (exchange) => {
    const reply = await answer(services, exchange).catch((error: unknown) =>
      managementErrorReply(error, services.logger),
    )
    return { ...reply, headers: { ...reply.headers, ...HEADERS } }
  }
}

async function answer(services: ManagementServices, exchange: Exchange): Promise<Reply> {
  const { storage, clock, authenticateBearer } = services
  if (exchange.path === PROBE_PATHS.health) return onlyGet(exchange, healthReply)
  if (exchange.path === PROBE_PATHS.ready)
    return onlyGet(exchange, () => readyReply(storage, clock))
  const route = findRoute(exchange.path)
  if (route === undefined) throw new FlagError('NOT_FOUND', 'There is no such path.')
  const actor = await requireActor(exchange, authenticateBearer)
  const name = route.methods.get(exchange.method)
  if (name === undefined) throw methodNotAllowed([...route.methods.keys()])
  return perform({ ...services, actor }, name, { exchange, params: route.params })
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
  const result = await useCase({ ...management, idempotentRequest }, input)
  if (endpoint.lines)
    return linesReply(endpoint, result as AsyncIterable<unknown>, management.logger)
  const { status: statusCode, response } = endpoint
  const body = { statusCode, message: 'OK', data: z.encode(response, result) }
  return jsonReply(statusCode, body, entityTagOf(result))
}

/** The revision of the record that is answered, if it is one record. */
function entityTagOf(result: unknown): Record<string, string> {
  if (!isJsonObject(result)) return {}
  const record = isJsonObject(result['rule']) ? result['rule'] : result
  return typeof record['revision'] === 'number' ? { ETag: revisionTag(record['revision']) } : {}
}

function onlyGet(exchange: Exchange, reply: () => Reply | Promise<Reply>): Reply | Promise<Reply> {
  if (exchange.method !== 'GET') throw methodNotAllowed(['GET'])
  return reply()
}

function methodNotAllowed(methods: readonly string[]): FlagError {
  const allow = methods.join(', ')
  return new FlagError('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { details: { allow } })
}
