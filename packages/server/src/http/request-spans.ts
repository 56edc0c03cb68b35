import { mapMaybeAsync } from '../runtime/map-maybe-async.ts'
import {
  fail,
  type HeaderGetter,
  type OpenTelemetryApi,
  SPAN,
  TRACER_NAME,
} from '../runtime/tracing.ts'
import type { Exchange, Handle } from './exchange.ts'
import { isProbePath, type RequestLog } from './request-log.ts'

interface RequestSpansOptions {
  readonly openTelemetry: OpenTelemetryApi
  readonly basePath: string
  readonly requestLog: RequestLog
}

/** The methods that a span names. Others could be any text. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

const HEADERS: HeaderGetter = {
  keys: () => [],
  get: (exchange, name) => (exchange as Exchange).header(name),
}

/**
 * Returns a handler that creates a span for each request, except for those of probes and metrics.
 * The span is a child of the active span of the host, or continues the trace of the headers. It
 * ends when the reply begins. It contains the template of the path, but no values of its parameters.
 */
export function traceRequests(handle: Handle, options: RequestSpansOptions): Handle {
  const { context, propagation, trace } = options.openTelemetry
  const tracer = trace.getTracer(TRACER_NAME)
  return (exchange) => {
    if (isProbePath(exchange.path)) return handle(exchange)
    const active = context.active()
    const isInSpan = trace.getSpan(active) !== undefined
    const parent = isInSpan ? active : propagation.extract(active, exchange, HEADERS)
    const { name, attributes } = describe(exchange, options)
    const span = tracer.startSpan(name, { kind: SPAN.server, attributes }, parent)
    const reply = context.with(trace.setSpan(parent, span), () => handle(exchange))
    return mapMaybeAsync(reply, (done) => {
      const { status, failure } = done
      span.setAttribute('http.response.status_code', status)
      if (status >= 500) {
        span.setAttribute('error.type', String(status))
        fail(span, failure)
      }
      span.end()
      return done
    })
  }
}

function describe(exchange: Exchange, { basePath, requestLog }: RequestSpansOptions) {
  const { path, isEncrypted, isOutsideBasePath = false } = exchange
  const method = METHODS.has(exchange.method) ? exchange.method : '_OTHER'
  const template = isOutsideBasePath ? undefined : requestLog.routeOf(path)
  const route = template === undefined ? undefined : basePath + template
  const attributes = {
    'http.request.method': method,
    'url.scheme': isEncrypted ? 'https' : 'http',
    ...(route !== undefined && { 'http.route': route }),
  }
  const shown = method === '_OTHER' ? 'HTTP' : method
  return { name: route === undefined ? shown : `${shown} ${route}`, attributes }
}
