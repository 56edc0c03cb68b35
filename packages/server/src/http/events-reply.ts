import { type CompiledFlag, FlagError } from '@ff/core'
import {
  asEventsRequest,
  type EventsAnswer,
  type EventsRequest,
  findEventsFault,
  MAX_BODY_BYTES,
  MAX_CLIENT_REPORTED_COUNT,
  MAX_CLIENT_REPORTED_MICROS,
  type ReportedEvaluation,
} from '@ff/protocol/sdk'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Clock } from '../runtime/clock.ts'
import type { CountedReports } from '../usage/counted-reports.ts'
import type { ReportedCount, UsageRecorder } from '../usage/usage-recorder.ts'
import { jsonReply, type Reply } from './exchange.ts'
import type { SdkRequest } from './sdk-reply.ts'

interface EventsReplyOptions {
  readonly cache: FlagSetCache
  readonly usage: UsageRecorder
  readonly reports: CountedReports
  readonly clock: Clock
}

const MINUTE_MS = 60_000

/** The maximum age of reported evaluations. Older evaluations are not counted. */
const OLDEST_MS = 24 * 60 * MINUTE_MS

/**
 * Counts the evaluations that an application reports. A repetition of a report is not counted and
 * receives the same reply. The reply does not wait for the store. Throws `INVALID_REQUEST` if the
 * body is not valid.
 */
export async function eventsReply(
  options: EventsReplyOptions,
  { scope, exchange, headers }: SdkRequest,
): Promise<Reply> {
  const body = (await exchange.json(MAX_BODY_BYTES)).parse()
  const request = asEventsRequest(body)
  if (request === undefined) {
    const message = `${findEventsFault(body)} is missing or has an invalid value.`
    throw new FlagError('INVALID_REQUEST', message)
  }
  const { id, events } = request
  const { flags } = await options.cache.get(scope)
  // Nothing waits from here on, so that of two simultaneous repetitions only one is counted.
  const count = () => countEvents(options, { scope, events, flags })
  const { keyId } = scope
  const answer = id === undefined ? count() : options.reports.answerOnce({ keyId, id }, count)
  return jsonReply(200, answer, headers)
}

interface EventsOfScope extends Pick<SdkRequest, 'scope'>, Pick<EventsRequest, 'events'> {
  readonly flags: ReadonlyMap<string, CompiledFlag>
}

function countEvents(
  { usage, clock }: EventsReplyOptions,
  { scope, events, flags }: EventsOfScope,
): EventsAnswer {
  const { environmentId, kind } = scope
  const now = clock.now()
  const limit = kind === 'client' ? new ClientReportLimit() : undefined
  const counts: ReportedCount[] = []
  for (const event of events) {
    const reported = toCount(event, flags.get(event.flagKey), now)
    const count = limit && reported ? limit.apply(reported) : reported
    if (count !== undefined) counts.push(count)
  }
  usage.reported({ environmentId, source: kind === 'client' ? 'client' : 'sdk', counts })
  const accepted = sumOf(counts)
  return { accepted, ignored: sumOf(events) - accepted }
}

function sumOf(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

/**
 * Returns the count that an event adds; `undefined` if the flag or variation is unknown, or if the
 * event is too old.
 */
function toCount(
  { variationKey, reason, count, micros, from, contextKeys }: ReportedEvaluation,
  flag: CompiledFlag | undefined,
  now: number,
): ReportedCount | undefined {
  if (flag === undefined || Date.parse(from) < now - OLDEST_MS) return undefined
  const variation = flag.variations.find(({ key }) => key === variationKey)
  if (variation === undefined && variationKey !== null) return undefined
  // The clock of a client may be ahead.
  const at = Math.min(Date.parse(from), now)
  const minute = new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS).toISOString()
  const variationId = variation?.id ?? null
  const flagId = flag.definition.id
  return { flagId, minute, variationId, reason, count, micros, contextKeys }
}

/** Limits the counts that one request with a client key can add, because client keys are public. */
class ClientReportLimit {
  /** The number of evaluations counted so far, by flag id. */
  readonly #counted = new Map<string, number>()

  /**
   * Returns the part of `reported` that is within the limit of its flag. The duration is reduced in
   * proportion, and at most one context key per evaluation is kept. Returns `undefined` if the
   * limit is reached.
   */
  apply(reported: ReportedCount): ReportedCount | undefined {
    const { flagId, contextKeys } = reported
    const counted = this.#counted.get(flagId) ?? 0
    const count = Math.min(reported.count, MAX_CLIENT_REPORTED_COUNT - counted)
    if (count === 0) return undefined
    this.#counted.set(flagId, counted + count)
    const share = Math.round((reported.micros * count) / reported.count)
    const micros = Math.min(share, count * MAX_CLIENT_REPORTED_MICROS)
    return { ...reported, count, micros, contextKeys: contextKeys.slice(0, count) }
  }
}
