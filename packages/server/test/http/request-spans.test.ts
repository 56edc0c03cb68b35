import { FlagError } from '@ff/core'
import * as openTelemetry from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { jsonReply } from '../../src/http/exchange.ts'
import type { ManagementPlane } from '../../src/management-plane.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { call } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'
const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`

const exporter = new InMemorySpanExporter()
let flags: FlagServer
let live: SeededEnvironment

/** A plane whose requests run one transaction. It fails at the path `/projects/broken`. */
const plane: ManagementPlane<undefined> = {
  connect: ({ storage }) => ({
    handle: async ({ path }) => {
      const failure = new FlagError('UNAVAILABLE', 'The store is away.')
      try {
        await storage.transaction('lock', async () => {
          if (path.endsWith('broken')) throw failure
        })
        return jsonReply(200, {})
      } catch {
        return { ...jsonReply(503, {}), failure }
      }
    },
    templateOf: (path) => (path.startsWith('/projects/') ? '/projects/{projectId}' : undefined),
    jobs: [],
    as: undefined,
    start: async () => undefined,
    stop: () => undefined,
    close: async () => undefined,
  }),
}

beforeAll(async () => {
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  openTelemetry.trace.setGlobalTracerProvider(provider)
  openTelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  openTelemetry.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  const options = { basePath: '/flags', management: plane, logger: silentLogger }
  flags = createFlagServer({ ...memory, ...options, openTelemetry })
  await flags.start()
})

beforeEach(() => exporter.reset())

afterAll(async () => {
  await flags.close()
  openTelemetry.trace.disable()
  openTelemetry.context.disable()
  openTelemetry.propagation.disable()
})

const mounted = { fetch: (request: Request) => flags.fetch(request) }
const get = (path: string, headers = {}) =>
  call(mounted, `/flags${path}`, { method: 'GET', headers })

function spans(): readonly ReadableSpan[] {
  return exporter.getFinishedSpans()
}

it('An evaluation has one span, which continues the trace of the caller', async () => {
  const body = { context: { kind: 'user', key: 'secret-person' } }
  const headers = { traceparent }
  await call(mounted, '/flags/evaluator/evaluate', { key: live.sdkKey, body, headers })
  expect(spans()).toHaveLength(1)
  expect(spans()[0]).toMatchObject({
    name: 'POST /flags/evaluator/evaluate',
    kind: openTelemetry.SpanKind.SERVER,
    parentSpanContext: { traceId: TRACE_ID, spanId: PARENT_ID },
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/flags/evaluator/evaluate',
      'http.response.status_code': 200,
      'url.scheme': 'http',
    },
  })
})

it('A transaction has a span below that of its request', async () => {
  await get('/projects/shop')
  const [transaction, request] = spans()
  expect(request).toMatchObject({ name: 'GET /flags/projects/{projectId}' })
  expect(request?.parentSpanContext).toBeUndefined()
  expect(transaction?.name).toBe('transaction')
  expect(transaction?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId)
})

it('A failure marks the spans of the transaction and of the request', async () => {
  await get('/projects/broken')
  const failed = { status: { code: openTelemetry.SpanStatusCode.ERROR } }
  expect(spans()).toMatchObject([failed, { ...failed, attributes: { 'error.type': '503' } }])
  expect(spans()[1]?.events[0]?.attributes?.['exception.message']).toBe('The store is away.')
})

it('The active span of the host is the parent, rather than the headers', async () => {
  const host = openTelemetry.trace.getTracer('host').startSpan('host')
  const context = openTelemetry.trace.setSpan(openTelemetry.context.active(), host)
  await openTelemetry.context.with(context, () => get('/projects/shop', { traceparent }))
  expect(spans()[1]?.parentSpanContext?.spanId).toBe(host.spanContext().spanId)
})

it('Probes, and transactions outside of requests, have no spans', async () => {
  await get('/health')
  await get('/ready')
  expect(spans()).toEqual([])
})

it('Unknown paths and methods appear in no span', async () => {
  await call(mounted, '/flags/a/secret', { method: 'BREW' })
  expect(spans().at(-1)).toMatchObject({ name: 'HTTP' })
  expect(JSON.stringify(spans().map(({ name, attributes }) => [name, attributes]))).not.toMatch(
    /secret|BREW/,
  )
})
