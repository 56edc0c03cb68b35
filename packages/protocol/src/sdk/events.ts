import type { EvaluationReason, JsonObject } from '@ff/core'
import { asJsonObject, ownProperty } from './json-object.ts'

/** A report of local evaluations of one flag that had the same result. */
export interface ReportedEvaluation {
  readonly flagKey: string
  /** The key of the served variation; `null` if no variation was served. */
  readonly variationKey: string | null
  readonly reason: EvaluationReason
  /** The number of evaluations, at least 1. */
  readonly count: number
  /** The total duration of the evaluations in microseconds; 0 if not measured. */
  readonly micros: number
  /** The time of the first evaluation. All evaluations of the report are counted in this minute. */
  readonly from: string
  /** The distinct context keys; empty if users are not counted. */
  readonly contextKeys: readonly string[]
}

/** The body of `POST /evaluator/events`. */
export interface EventsRequest {
  /**
   * The id of the report, the same in each repetition of the request. `undefined` if repetitions
   * cannot be recognised.
   */
  readonly id: string | undefined
  readonly events: readonly ReportedEvaluation[]
}

/** A report of local evaluations that is sent. */
export type SentEvaluation = Pick<
  ReportedEvaluation,
  'flagKey' | 'variationKey' | 'reason' | 'count' | 'from'
>

/** Returns the JSON text of a request. A repetition of the request must have the same `id`. */
export function eventsText(events: readonly SentEvaluation[], id?: string): string {
  const wire = events.map(({ flagKey, variationKey, ...event }): WireEvent => {
    return { flag_key: flagKey, variation_key: variationKey, ...event }
  })
  return JSON.stringify({ id, events: wire })
}

/** The response to `POST /evaluator/events`. Both fields are numbers of evaluations. */
export interface EventsAnswer {
  readonly accepted: number
  /**
   * Evaluations that are not counted: those of unknown flags or variations, those that are too old,
   * and those that exceed the limit of a client key.
   */
  readonly ignored: number
}

/** The maximum number of events in a request. */
export const MAX_EVENTS = 1000
/** The maximum `count` of an event. */
export const MAX_EVENT_COUNT = 1_000_000
/** The maximum number of evaluations per flag that are counted in a request with a client key. */
export const MAX_CLIENT_REPORTED_COUNT = 10_000
/**
 * The maximum duration, in microseconds, that is counted per evaluation if the report was sent with
 * a client key.
 */
export const MAX_CLIENT_REPORTED_MICROS = 100_000
/** The maximum `micros` of an event: one hour. */
const MAX_EVENT_MICROS = 3_600_000_000
/** The maximum length of the id of a request. */
export const MAX_REPORT_ID_LENGTH = 64
const MAX_TEXT_LENGTH = 1024
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

const REASONS: readonly unknown[] = [
  'TARGETING_MATCH',
  'SPLIT',
  'STATIC',
  'DEFAULT',
  'DISABLED',
  'ERROR',
] satisfies EvaluationReason[]

/** The check of each field of an event. */
const FIELDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['flag_key', isKey],
  ['variation_key', (value) => value === undefined || value === null || isKey(value)],
  ['reason', (value) => REASONS.includes(value)],
  ['count', (value) => isWholeWithin(value, 1, MAX_EVENT_COUNT)],
  ['micros', (value) => value === undefined || isWholeWithin(value, 0, MAX_EVENT_MICROS)],
  ['from', isInstant],
  ['context_keys', (value) => value === undefined || (Array.isArray(value) && value.every(isKey))],
])

/** Returns the request in a parsed body, or `undefined` if `findEventsFault` finds a fault. */
export function asEventsRequest(body: unknown): EventsRequest | undefined {
  if (findEventsFault(body) !== undefined) return undefined
  const { events } = body as { readonly events: readonly WireEvent[] }
  const id = ownProperty(body as JsonObject, 'id') as string | undefined
  return { id, events: events.map(toReportedEvaluation) }
}

/**
 * Returns the path of the first invalid field, such as `events.3.count`; `undefined` if the body is
 * valid.
 */
export function findEventsFault(body: unknown): string | undefined {
  const request = asJsonObject(body) ?? {}
  const id = ownProperty(request, 'id')
  if (id !== undefined && !isText(id, MAX_REPORT_ID_LENGTH)) return 'id'
  const events = ownProperty(request, 'events')
  if (!Array.isArray(events) || events.length > MAX_EVENTS) return 'events'
  for (const [index, event] of events.entries()) {
    const fields = asJsonObject(event)
    if (fields === undefined) return `events.${index}`
    for (const [name, isRight] of FIELDS) {
      if (!isRight(ownProperty(fields, name))) return `events.${index}.${name}`
    }
  }
  return undefined
}

/** A valid event with its wire names. */
interface WireEvent {
  readonly flag_key: string
  readonly variation_key?: string | null
  readonly reason: EvaluationReason
  readonly count: number
  readonly micros?: number
  readonly from: string
  readonly context_keys?: readonly string[]
}

function toReportedEvaluation(event: WireEvent): ReportedEvaluation {
  return {
    flagKey: event.flag_key,
    variationKey: event.variation_key ?? null,
    reason: event.reason,
    count: event.count,
    micros: event.micros ?? 0,
    from: new Date(event.from).toISOString(),
    contextKeys: event.context_keys ?? [],
  }
}

function isKey(value: unknown): boolean {
  return isText(value, MAX_TEXT_LENGTH)
}

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= maxLength
}

function isWholeWithin(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value))
}
