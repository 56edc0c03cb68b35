import { FlagError } from '@ff/core'
import type { Storage } from '@ff/storage'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { mapMaybeAsync } from '../runtime/map-maybe-async.ts'
import { managementErrorReply, sdkErrorReply } from './error-reply.ts'
import type { Exchange, HandlerResult, Reply } from './exchange.ts'
import { METRICS_PATH, type Metrics, metricsReply } from './metrics.ts'
import { answerGet, privateReply } from './private-reply.ts'
import { healthReply, PROBE_PATHS, readyReply } from './probes.ts'
import { isSdkPath } from './sdk.ts'

/** Handles a request; synchronously if nothing has to be loaded. */
export type Handle = (exchange: Exchange) => HandlerResult | Promise<HandlerResult>

interface HandlerOptions {
  /** Resolves once the server can answer; `undefined` when it can already. */
  readonly whenReady: () => Promise<void> | undefined
  readonly sdk: Handle
  /** Answers the paths that are not the server's own; `undefined` without a management plane. */
  readonly management: Handle | undefined
  readonly metrics: Metrics
  /** Whether `GET /metrics` needs no credentials. */
  readonly metricsArePublic: boolean
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/** Creates the handler of every path below the base path. It neither throws nor rejects. */
export function createHandler(options: HandlerOptions): Handle {
  const { metrics, logger } = options
  return (exchange) => {
    const { path } = exchange
    const count = (result: HandlerResult) => {
      if (result !== 'pending') metrics.countRequest(path, result.status)
      return result
    }
    const refuse = (error: unknown) =>
      count(isSdkPath(path) ? sdkErrorReply(error, logger) : managementErrorReply(error, logger))
    try {
      const result = answer(options, exchange)
      return result instanceof Promise ? result.then(count, refuse) : count(result)
    } catch (error) {
      return refuse(error)
    }
  }
}

function answer(
  options: HandlerOptions,
  exchange: Exchange,
): HandlerResult | Promise<HandlerResult> {
  const { whenReady, sdk, management } = options
  const { path, pending } = exchange
  // Whether the process runs does not depend on whether the store can be read.
  const starting = path === PROBE_PATHS.health || pending ? undefined : whenReady()
  return mapMaybeAsync(starting, () => {
    if (isSdkPath(path)) return sdk(exchange)
    const own = ownAnswer(options, exchange)
    if (own !== undefined) return privateReply(exchange, own, options)
    return management === undefined ? refuse(exchange, options) : management(exchange)
  })
}

/** Answers the paths of the server itself; `undefined` for all others. */
function ownAnswer(
  { metrics, metricsArePublic, storage, clock }: HandlerOptions,
  exchange: Exchange,
): (() => Reply | Promise<Reply>) | undefined {
  const { path } = exchange
  if (path === PROBE_PATHS.health) return () => answerGet(exchange, healthReply)
  if (path === PROBE_PATHS.ready) {
    return () => answerGet(exchange, () => readyReply(storage, clock))
  }
  if (path === METRICS_PATH && metricsArePublic) {
    return () => answerGet(exchange, () => metricsReply(metrics))
  }
  return undefined
}

/** Answers the paths of a management plane when there is none. */
function refuse(exchange: Exchange, options: HandlerOptions): Promise<Reply> {
  const error =
    exchange.path === METRICS_PATH
      ? new FlagError('UNAUTHENTICATED', 'The metrics of this server are not public.')
      : new FlagError('NOT_FOUND', 'There is no such path.')
  return privateReply(exchange, () => Promise.reject(error), options)
}
