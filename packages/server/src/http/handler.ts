import { FlagError } from '@ff/core'
import { SDK_PATHS } from '@ff/protocol/sdk'
import type { Storage } from '@ff/storage'
import { type Clock, within } from '../runtime/clock.ts'
import type { InFlight } from '../runtime/in-flight.ts'
import type { Logger } from '../runtime/logger.ts'
import { managementErrorReply, sdkErrorReply } from './error-reply.ts'
import { type Exchange, jsonReply, type Reply } from './exchange.ts'
import { METRICS_PATH, type Metrics, metricsReply } from './metrics.ts'
import { answerGet, privateReply } from './private-reply.ts'
import { isSdkPath } from './sdk.ts'

/** Handles a request. Synchronous if nothing has to be loaded. Neither throws nor rejects. */
export type Handle = (exchange: Exchange) => Reply | Promise<Reply>

interface HandlerOptions {
  /**
   * Returns a promise that resolves when the server is ready; `undefined` if it is already ready.
   */
  readonly whenReady: () => Promise<void> | undefined
  readonly sdk: Handle
  /**
   * Handles all paths that the server does not handle itself; `undefined` without a management
   * plane.
   */
  readonly management: Handle | undefined
  readonly metrics: Metrics
  /** `true` if `GET /metrics` needs no credentials. */
  readonly metricsArePublic: boolean
  readonly inFlight: InFlight
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/** Creates the handler of all paths below the base path. */
export function createHandler(options: HandlerOptions): Handle {
  const { metrics, inFlight } = options
  const endOf = (path: string) => (reply: Reply) => {
    metrics.countRequest(path, reply.status)
    inFlight.end()
    return reply
  }
  // A closure for each request would use memory while a poll is pending.
  const ends = new Map(Object.values(SDK_PATHS).map((path) => [path as string, endOf(path)]))
  const endOther = endOf('')
  return (exchange) => {
    const end = ends.get(exchange.path) ?? endOther
    inFlight.begin()
    const reply = answer(options, exchange)
    return reply instanceof Promise ? reply.then(end) : end(reply)
  }
}

function answer(options: HandlerOptions, exchange: Exchange): Reply | Promise<Reply> {
  const { whenReady, sdk, logger } = options
  const isSdk = isSdkPath(exchange.path)
  const route = () => (isSdk ? sdk(exchange) : ownReply(options, exchange))
  // The health of the process does not depend on the store.
  const starting = exchange.path === PROBE_PATHS.health ? undefined : whenReady()
  if (starting === undefined) return route()
  return starting.then(route, (error: unknown) =>
    isSdk ? sdkErrorReply(error, {}, logger) : managementErrorReply(error, logger),
  )
}

/**
 * Handles the probes and the public metrics. The management plane handles all other paths; without
 * one, their reply is an error.
 */
function ownReply(options: HandlerOptions, exchange: Exchange): Reply | Promise<Reply> {
  const { management, metrics, metricsArePublic, storage, clock } = options
  const { path } = exchange
  const get = (reply: () => Reply | Promise<Reply>) =>
    privateReply(exchange, () => answerGet(exchange, reply), options)
  if (path === PROBE_PATHS.health) return get(() => statusReply('ok'))
  if (path === PROBE_PATHS.ready) return get(() => readyReply(storage, clock))
  if (path === METRICS_PATH && metricsArePublic) return get(() => metricsReply(metrics))
  if (management !== undefined) return management(exchange)
  const error =
    path === METRICS_PATH
      ? new FlagError('UNAUTHENTICATED', 'Metrics are private; set the option `metricsArePublic`.')
      : new FlagError('NOT_FOUND', 'There is no such path.')
  return privateReply(exchange, () => Promise.reject(error), options)
}

/**
 * The maximum duration of the query that checks the store. If the query takes longer, the server is
 * not ready.
 */
const READY_WITHIN_MS = 2000

/** The paths of the health and readiness probes. These paths need no token. */
export const PROBE_PATHS = { health: '/health', ready: '/ready' } as const

/**
 * Returns the reply of the readiness probe. Throws `UNAVAILABLE` if the store does not respond
 * within two seconds.
 */
export async function readyReply(storage: Storage, clock: Clock): Promise<Reply> {
  const answered = storage.list('organization', { limit: 1 }).then(
    () => true,
    () => false,
  )
  const isReady = await within(answered, { clock, ms: READY_WITHIN_MS })
  if (!isReady) throw new FlagError('UNAVAILABLE', 'The server is not ready.')
  return statusReply('ready')
}

function statusReply(status: string): Reply {
  return jsonReply(200, { statusCode: 200, message: 'OK', data: { status } })
}
