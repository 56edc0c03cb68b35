import { SDK_PATHS } from '@ff/protocol/sdk'
import type { Client } from '../access/client.ts'
import { newId } from '../access/secrets.ts'
import type { SocketClosing } from '../live/socket-connection.ts'
import type { Clock } from '../runtime/clock.ts'
import { isDiscarded, type LogFields, type Logger } from '../runtime/logger.ts'
import { type Exchange, GONE, type Reply } from './exchange.ts'
import { isSdkPath, METRICS_PATH, PROBE_PATHS, sdkTemplateOf } from './paths.ts'

/** The header with the id of a request that was refused or has failed. */
export const REQUEST_ID_HEADER = 'X-Request-Id'

/** The ids of a trusted proxy that are used. They cannot forge a line of a log. */
const PROXY_ID = /^[\w.:/+=@-]{1,128}$/

/** The path in the log of a request without a route. The path itself could contain anything. */
const NO_ROUTE = '(no route)'

const MAX_METHOD_LENGTH = 16

interface RequestLogOptions {
  readonly logger: Logger
  readonly clock: Clock
  /** `true` if a proxy in front of the server may choose the ids of requests. */
  readonly trustProxy: boolean
  /** Returns the path template of a management path; `undefined` if no endpoint has this path. */
  readonly templateOf: (path: string) => string | undefined
}

/** The parts of a request from which its trace is created. */
export type TracedRequest = Client & Pick<Exchange, 'method' | 'path' | 'isOutsideBasePath'>

/** The facts about a request that the log contains. They do not refer to its body. */
export interface RequestTrace {
  readonly method: string
  readonly path: string
  /** The id that the proxy has chosen; `undefined` for none. */
  readonly proxyId: string | undefined
  /** The time on the scale of `Clock.monotonicNow`. */
  readonly startedAt: number
}

/**
 * Logs requests, and adds the id of the request to error replies. Requests of the SDK endpoints,
 * probes and metrics are logged with the level `debug`, all others with `info`, and failures of the
 * server with `error` and their cause. A stream of events is logged when it begins and when it ends. The log never contains headers, queries, bodies, or values
 * of path parameters.
 */
export class RequestLog {
  readonly #options: RequestLogOptions
  readonly #logsInfo: boolean
  readonly #logsDebug: boolean

  constructor(options: RequestLogOptions) {
    this.#options = options
    this.#logsInfo = !isDiscarded(options.logger, 'info')
    this.#logsDebug = !isDiscarded(options.logger, 'debug')
  }

  /** Returns `true` if the log contains the requests of a path even if they do not fail. */
  includes(path: string): boolean {
    if (!this.#logsInfo && !this.#logsDebug) return false
    return isFrequent(path) ? this.#logsDebug : this.#logsInfo
  }

  /** Returns the template of a path; `undefined` if no endpoint has this path. */
  routeOf(path: string): string | undefined {
    return isProbePath(path) ? path : (sdkTemplateOf(path) ?? this.#options.templateOf(path))
  }

  /** Returns the facts about a request that has begun at `startedAt`; now by default. */
  trace(exchange: TracedRequest, startedAt = this.#options.clock.monotonicNow()): RequestTrace {
    const { method, path, isOutsideBasePath = false } = exchange
    return {
      method,
      path: isOutsideBasePath ? '' : path,
      proxyId: this.#proxyIdOf(exchange),
      startedAt,
    }
  }

  /** Logs the end of a request. Returns the reply, to which the id is added if it is an error. */
  finish(reply: Reply, trace: RequestTrace): Reply {
    const { status, failure } = reply
    if (status < 400 && !this.includes(trace.path)) return reply
    const requestId = trace.proxyId ?? newId()
    if (status >= 500) this.#failed('Request failed', { trace, requestId, status, cause: failure })
    else if (reply === GONE) this.#log('Request aborted by the client', { trace, requestId })
    else if (isStreamed(reply, trace)) {
      const ended = { trace, requestId, status, isEvents: isEventStream(reply) }
      // The stream can stay open for hours. Its end is logged separately.
      if (ended.isEvents) this.#log('Request handled', ended)
      return { ...reply, body: this.#watch(reply.body, ended) }
    } else this.#log('Request handled', { trace, requestId, status })
    return status < 400 ? reply : withRequestId(reply, requestId)
  }

  /** Logs the refusal of an upgrade to a WebSocket, and returns the id of the request. */
  refuseUpgrade(request: TracedRequest, status: number): string {
    const trace = this.trace(request)
    const requestId = trace.proxyId ?? newId()
    this.#log('Upgrade refused', { trace, requestId, status })
    return requestId
  }

  /** Logs a socket that was closed by the server, or by the client if `closing` is `undefined`. */
  socketClosed(startedAt: number, closing: SocketClosing | undefined): void {
    if (!this.#logsDebug) return
    const message = closing === undefined ? 'Socket closed by the client' : 'Socket closed'
    const fields = { path: SDK_PATHS.socket, ...closing }
    const durationMs = this.#durationSince(startedAt)
    this.#options.logger.debug(message, { ...fields, durationMs })
  }

  /**
   * Returns the same chunks. Logs the end of the body: complete, aborted by the client, or failed.
   */
  #watch(body: AsyncIterable<string>, ended: EndedRequest): AsyncIterable<string> {
    const iterator = body[Symbol.asyncIterator]()
    let isOpen = true
    const end = (log: () => void) => {
      if (isOpen) log()
      isOpen = false
    }
    const watched: Required<Pick<AsyncIterator<string, undefined>, 'next' | 'return'>> = {
      next: async () => {
        try {
          const result = await iterator.next()
          if (!result.done) return result
          end(() => this.#log(ended.isEvents ? 'Event stream ended' : 'Request handled', ended))
          return { done: true, value: undefined }
        } catch (cause) {
          const message = 'A response failed while it was being sent'
          end(() => this.#failed(message, { ...ended, cause }))
          throw cause
        }
      },
      return: async () => {
        const message = ended.isEvents ? 'Event stream left' : 'Request aborted'
        end(() => this.#log(`${message} by the client`, ended))
        await iterator.return?.()
        return { done: true, value: undefined }
      },
    }
    return { [Symbol.asyncIterator]: () => watched }
  }

  #log(message: string, ended: EndedRequest): void {
    const { logger } = this.#options
    const { path } = ended.trace
    if (!this.includes(path)) return
    const fields = this.#fieldsOf(ended)
    if (isFrequent(path)) logger.debug(message, fields)
    else logger.info(message, fields)
  }

  #failed(message: string, { cause, ...ended }: EndedRequest & { readonly cause: unknown }): void {
    this.#options.logger.error(message, { ...this.#fieldsOf(ended), cause })
  }

  #fieldsOf({ trace, requestId, status }: EndedRequest): LogFields {
    const { method, path, startedAt } = trace
    return {
      requestId,
      method: method.slice(0, MAX_METHOD_LENGTH),
      path: this.routeOf(path) ?? NO_ROUTE,
      ...(status !== undefined && { status }),
      durationMs: this.#durationSince(startedAt),
    }
  }

  #durationSince(startedAt: number): number {
    return Math.round((this.#options.clock.monotonicNow() - startedAt) * 10) / 10
  }

  #proxyIdOf(client: Client): string | undefined {
    if (!this.#options.trustProxy) return undefined
    const id = client.header('x-request-id')
    return id !== undefined && PROXY_ID.test(id) ? id : undefined
  }
}

interface EndedRequest {
  readonly trace: RequestTrace
  readonly requestId: string
  /** The status of the reply; absent if the client disconnected before it. */
  readonly status?: number
  /** `true` if the reply is a stream of events. */
  readonly isEvents?: boolean
}

function withRequestId(reply: Reply, requestId: string): Reply {
  return { ...reply, headers: { ...reply.headers, [REQUEST_ID_HEADER]: requestId } }
}

/** Returns `true` if the body has chunks. The body of a poll must not be read here. */
function isStreamed(
  reply: Reply,
  { path }: RequestTrace,
): reply is Reply & { readonly body: AsyncIterable<string> } {
  if (isFrequent(path) || typeof reply.body !== 'object' || reply.body === null) return false
  return !(reply.body instanceof Uint8Array)
}

function isEventStream({ headers }: Reply): boolean {
  return headers['Content-Type']?.startsWith('text/event-stream') ?? false
}

const PROBES: ReadonlySet<string> = new Set([...Object.values(PROBE_PATHS), METRICS_PATH])

/** Returns `true` for the paths of probes and metrics. */
export function isProbePath(path: string): boolean {
  return PROBES.has(path)
}

/** Returns `true` for a path that clients or probes request very often. */
function isFrequent(path: string): boolean {
  return isSdkPath(path) || isProbePath(path)
}
