import type { Storage, StorageSession } from '@ff/storage'
import { withTransaction } from './wrapped-storage.ts'

/** The part of `@opentelemetry/api` that the server uses. The module itself has this type. */
export interface OpenTelemetryApi {
  readonly context: {
    active(): unknown
    with<T>(context: unknown, work: () => T): T
  }
  readonly propagation: {
    extract(context: unknown, carrier: unknown, getter: HeaderGetter): unknown
  }
  readonly trace: {
    getTracer(name: string): OpenTelemetryTracer
    getSpan(context: unknown): object | undefined
    setSpan(context: unknown, span: OpenTelemetrySpan): unknown
  }
}

/** The part of a tracer that the server uses. */
export interface OpenTelemetryTracer {
  startSpan(name: string, options: SpanOptions, context: unknown): OpenTelemetrySpan
}

/** The part of a span that the server uses. */
export interface OpenTelemetrySpan {
  setAttribute(name: string, value: string | number): unknown
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  recordException(error: Error): void
  end(): void
}

/** Reads the headers of a request that continues a trace. */
export interface HeaderGetter {
  keys(carrier: unknown): string[]
  get(carrier: unknown, name: string): string | undefined
}

/** The kind and the attributes of a new span. */
export interface SpanOptions {
  readonly kind: number
  readonly attributes: Record<string, string>
}

/** The values of OpenTelemetry's `SpanKind` and `SpanStatusCode`. */
export const SPAN = { internal: 0, server: 1, error: 2 } as const

/** The name of the tracer. */
export const TRACER_NAME = '@ff/server'

/**
 * Returns a store that creates a span for each transaction that belongs to a traced request. The
 * store itself is not changed.
 */
export function traceTransactions(storage: Storage, api: OpenTelemetryApi): Storage {
  const tracer = api.trace.getTracer(TRACER_NAME)
  const transaction = async <T>(lock: string, work: (tx: StorageSession) => Promise<T>) => {
    const parent = api.context.active()
    // Background jobs have no span, and most of their transactions are of no interest.
    if (api.trace.getSpan(parent) === undefined) return storage.transaction(lock, work)
    const span = tracer.startSpan('transaction', { kind: SPAN.internal, attributes: {} }, parent)
    try {
      return await api.context.with(api.trace.setSpan(parent, span), () =>
        storage.transaction(lock, work),
      )
    } catch (error) {
      fail(span, error)
      throw error
    } finally {
      span.end()
    }
  }
  return withTransaction(storage, transaction)
}

/** Marks a span as failed, with the error if there is one. */
export function fail(span: OpenTelemetrySpan, error: unknown): void {
  span.setStatus({ code: SPAN.error })
  if (error instanceof Error) span.recordException(error)
}
