import { FlagError } from '@ff/core'
import type { Clock } from '../runtime/clock.ts'
import type { InFlight } from '../runtime/in-flight.ts'
import type { OpenTelemetryApi } from '../runtime/tracing.ts'
import type { StoreConnection } from '../snapshots/store-connection.ts'
import { managementErrorReply, sdkErrorReply } from './error-reply.ts'
import { type Exchange, type Handle, jsonReply, type Reply } from './exchange.ts'
import { type Metrics, metricsReply } from './metrics.ts'
import { noRoute, outsideBasePath } from './no-route.ts'
import { isSdkPath, METRICS_PATH, PROBE_PATHS } from './paths.ts'
import { answerGet, privateReply } from './private-reply.ts'
import type { RequestLog } from './request-log.ts'
import { traceRequests } from './request-spans.ts'

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
  readonly basePath: string
  readonly connection: Pick<StoreConnection, 'readStatus'>
  readonly clock: Clock
  readonly requestLog: RequestLog
  readonly openTelemetry: OpenTelemetryApi | undefined
}

/** Creates the handler of all paths. */
export function createHandler(options: HandlerOptions): Handle {
  const { openTelemetry } = options
  const handle = withoutSpans(options)
  return openTelemetry === undefined ? handle : traceRequests(handle, { ...options, openTelemetry })
}

function withoutSpans(options: HandlerOptions): Handle {
  const { metrics, inFlight, requestLog, clock } = options
  return (exchange) => {
    const { path } = exchange
    inFlight.begin()
    const startedAt = requestLog.includes(path) ? clock.monotonicNow() : undefined
    const reply = answer(options, exchange)
    if (!(reply instanceof Promise)) {
      metrics.countRequest(path, reply.status)
      inFlight.end()
      // Most requests end here. They need no trace.
      if (startedAt === undefined && reply.status < 400) return reply
      return requestLog.finish(reply, requestLog.trace(exchange, startedAt))
    }
    // While a poll is pending, only its trace stays in memory, not the exchange.
    const trace = requestLog.trace(exchange, startedAt)
    return reply.then((done) => {
      metrics.countRequest(trace.path, done.status)
      inFlight.end()
      return requestLog.finish(done, trace)
    })
  }
}

function answer(options: HandlerOptions, exchange: Exchange): Reply | Promise<Reply> {
  const { whenReady, sdk, basePath } = options
  if (exchange.isOutsideBasePath) return managementErrorReply(outsideBasePath(exchange, basePath))
  const isSdk = isSdkPath(exchange.path)
  const route = () => (isSdk ? sdk(exchange) : ownReply(options, exchange))
  // The health of the process does not depend on the store.
  const starting = exchange.path === PROBE_PATHS.health ? undefined : whenReady()
  if (starting === undefined) return route()
  return starting.then(route, (error: unknown) =>
    isSdk ? sdkErrorReply(error, {}) : managementErrorReply(error),
  )
}

/**
 * Handles the probes and the public metrics. The management plane handles all other paths; without
 * one, their reply is an error.
 */
function ownReply(options: HandlerOptions, exchange: Exchange): Reply | Promise<Reply> {
  const { management, metrics, metricsArePublic, connection, basePath } = options
  const { method, path } = exchange
  const get = (reply: () => Reply | Promise<Reply>) =>
    privateReply(exchange, () => answerGet(exchange, reply))
  if (path === PROBE_PATHS.health) return get(() => statusReply({ status: 'ok' }))
  if (path === PROBE_PATHS.ready) return get(async () => statusReply(await connection.readStatus()))
  if (path === METRICS_PATH && metricsArePublic) return get(() => metricsReply(metrics))
  if (management !== undefined) return management(exchange)
  const error =
    path === METRICS_PATH
      ? new FlagError('UNAUTHENTICATED', 'Metrics are private; set the option `metricsArePublic`.')
      : noRoute({ method, path: basePath + path }, 'set the option `management` to manage flags')
  return privateReply(exchange, () => Promise.reject(error))
}

function statusReply(data: { readonly status: string; readonly since?: string }): Reply {
  return jsonReply(200, { statusCode: 200, message: 'OK', data })
}
