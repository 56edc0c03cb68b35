import { type CompiledFlag, FlagError } from '@ff/core'
import {
  asEventsRequest,
  type EventsAnswer,
  findEventsFault,
  MAX_BODY_BYTES,
  type ReportedEvaluation,
} from '@ff/protocol/sdk'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import type { Clock } from '../clock.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { ReportedCount, UsageRecorder } from '../evaluation/usage-recorder.ts'
import { type Exchange, type Headers, jsonReply, type Reply } from './exchange.ts'

interface EventsParts {
  readonly cache: FlagSetCache
  readonly usage: UsageRecorder
  readonly clock: Clock
}

interface EventsExchange {
  readonly scope: EnvironmentScope
  readonly exchange: Exchange
  readonly headers: Headers
}

const MINUTE_MS = 60_000

/** Evaluations of longer ago are not counted any more. */
const OLDEST_MS = 24 * 60 * MINUTE_MS

/** Counts what a client has evaluated of its own accord. Nothing is written before it is answered. */
export async function eventsReply(
  { cache, usage, clock }: EventsParts,
  { scope, exchange, headers }: EventsExchange,
): Promise<Reply> {
  const body = (await exchange.json(MAX_BODY_BYTES)).parse()
  const request = asEventsRequest(body)
  if (request === undefined) {
    const message = `${findEventsFault(body)}: is missing, or not what it must be.`
    throw new FlagError('INVALID_REQUEST', message)
  }
  const { flags } = cache.find(scope) ?? (await cache.get(scope))
  const { environmentId } = scope
  const now = clock.now()
  const counts: ReportedCount[] = []
  let ignored = 0
  for (const event of request.events) {
    const count = toCount(event, flags.get(event.flagKey), now)
    if (count === undefined) ignored += event.count
    else {
      counts.push(count)
      usage.reportedUsers(environmentId, count.flagId, event.contextKeys)
    }
  }
  usage.reported(environmentId, counts)
  const accepted = counts.reduce((total, { count }) => total + count, 0)
  const answer: EventsAnswer = { accepted, ignored }
  return jsonReply(200, answer, headers)
}

/** What an event adds; nothing when the flag or its variation is unknown, or it is too old. */
function toCount(
  { variationKey, reason, count, micros, from }: ReportedEvaluation,
  flag: CompiledFlag | undefined,
  now: number,
): ReportedCount | undefined {
  if (flag === undefined || Date.parse(from) < now - OLDEST_MS) return undefined
  const variation = flag.variations.find(({ key }) => key === variationKey)
  if (variation === undefined && variationKey !== null) return undefined
  // A client whose clock is ahead has not evaluated in the future.
  const at = Math.min(Date.parse(from), now)
  const minute = new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS).toISOString()
  const variationId = variation?.id ?? null
  const flagId = flag.definition.id
  return { flagId, minute, variationId, reason, count, micros }
}
