import type { EvaluationReason } from '@ff/core'
import { asJsonObject, ownProperty } from './json-object.ts'

/** How often a flag was evaluated by a client of its own accord, always with the same outcome. */
export interface ReportedEvaluation {
  readonly flagKey: string
  /** What was served; null when there was nothing to serve. */
  readonly variationKey: string | null
  readonly reason: EvaluationReason
  /** How many, at least 1. */
  readonly count: number
  /** How long all of them took together, in microseconds; 0 if not measured. */
  readonly micros: number
  /** When the first of them was; they are counted in that minute. */
  readonly from: string
  /** The distinct keys of the contexts, as text; empty when they are not to be counted. */
  readonly contextKeys: readonly string[]
}

/** Body of `POST /evaluator/events`. */
export interface EventsRequest {
  readonly events: readonly ReportedEvaluation[]
}

/** Answer of `POST /evaluator/events`, in evaluations. */
export interface EventsAnswer {
  readonly accepted: number
  /** Evaluations of unknown flags or variations, too long ago, or beyond the bound of a client key. */
  readonly ignored: number
}

/** The most events that one request reports. */
export const MAX_EVENTS = 1000
/** The most evaluations that one event stands for. */
export const MAX_EVENT_COUNT = 1_000_000
/** The most evaluations of one flag that one request with a client key adds to the counts. */
export const MAX_CLIENT_REPORTED_COUNT = 10_000
/** The most microseconds that count for one evaluation reported with a client key: 100 ms. */
export const MAX_CLIENT_REPORTED_MICROS = 100_000
/** The most microseconds that one event says its evaluations took: an hour. */
const MAX_EVENT_MICROS = 3_600_000_000
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

/** What each field of an event must be. */
const FIELDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['flag_key', isKey],
  ['variation_key', (value) => value === undefined || value === null || isKey(value)],
  ['reason', (value) => REASONS.includes(value)],
  ['count', (value) => isWholeWithin(value, 1, MAX_EVENT_COUNT)],
  ['micros', (value) => value === undefined || isWholeWithin(value, 0, MAX_EVENT_MICROS)],
  ['from', isInstant],
  ['context_keys', (value) => value === undefined || (Array.isArray(value) && value.every(isKey))],
])

/** The report in a parsed body, or `undefined` when `findEventsFault` finds one. */
export function asEventsRequest(body: unknown): EventsRequest | undefined {
  if (findEventsFault(body) !== undefined) return undefined
  const { events } = body as { readonly events: readonly WireEvent[] }
  return { events: events.map(toReportedEvaluation) }
}

/** The first field that is not as it must be, such as `events.3.count`. */
export function findEventsFault(body: unknown): string | undefined {
  const events = ownProperty(asJsonObject(body) ?? {}, 'events')
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

/** An event in which nothing is wrong. */
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
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH
}

function isWholeWithin(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max
}

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value))
}
