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

/** Handles a request; synchronously if nothing has to be loaded. Neither throws nor rejects. */
export type Handle = (exchange: Exchange) => Reply | Promise<Reply>

interface HandlerOptions {
  /** Resolves once the server can answer; `undefined` when it can already. */
  readonly whenReady: () => Promise<void> | undefined
  readonly sdk: Handle
  /** Answers the paths that are not the server's own; `undefined` without a management plane. */
  readonly management: Handle | undefined
  readonly metrics: Metrics
  /** Whether `GET /metrics` needs no credentials. */
  readonly metricsArePublic: boolean
  readonly inFlight: InFlight
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/** Creates the handler of every path below the base path. */
export function createHandler(options: HandlerOptions): Handle {
  const { metrics, inFlight } = options
  const endOf = (path: string) => (reply: Reply) => {
    metrics.countRequest(path, reply.status)
    inFlight.end()
    return reply
  }
  // A closure for each request would take memory for as long as a poll is pending.
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
  // Whether the process runs does not depend on whether the store can be read.
  const starting = exchange.path === PROBE_PATHS.health ? undefined : whenReady()
  if (starting === undefined) return route()
  return starting.then(route, (error: unknown) =>
    isSdk ? sdkErrorReply(error, {}, logger) : managementErrorReply(error, logger),
  )
}

/** Answers the paths of the server itself; the management plane, if there is one, answers all others. */
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
      ? new FlagError('UNAUTHENTICATED', 'The metrics of this server are not public.')
      : new FlagError('NOT_FOUND', 'There is no such path.')
  return privateReply(exchange, () => Promise.reject(error), options)
}

/** How long the store may take to answer before the server counts as not ready. */
const READY_WITHIN_MS = 2000

/** The path of each probe; neither needs a token. */
export const PROBE_PATHS = { health: '/health', ready: '/ready' } as const

/** Reports that the store answers. Throws `UNAVAILABLE` if it does not in time. */
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
