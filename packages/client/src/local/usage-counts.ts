import { type CompiledFlag, codeCountOf, reasonOf, servedBy } from '@ff/core'
import { eventsText, MAX_EVENT_COUNT, MAX_EVENTS, type SentEvaluation } from '@ff/protocol/sdk'

interface FlagCounts {
  /** The time of the first evaluation, in epoch milliseconds. */
  readonly from: number
  /** The number of evaluations of each outcome code. */
  readonly counts: Uint32Array
}

/** A report of evaluations, which is the same each time that it is sent. */
export interface UsageReport {
  readonly body: string
  /** The number of evaluations in the report. */
  readonly evaluations: number
}

/** The evaluations that are not yet reported. Their number in memory is limited. */
export interface UsageCounts {
  /** The evaluations since the last `closeCounts`. */
  readonly open: Map<CompiledFlag, FlagCounts>
  /** The events to report, the oldest first. */
  events: SentEvaluation[]
  /** The number of evaluations that were dropped and not yet reported to the application. */
  dropped: number
}

/** The maximum number of flags with open counts, and of waiting events. */
export const MAX_WAITING = 10_000
/** The maximum length of the events of a report in JSON, so that it has at most 256 KiB of UTF-8. */
const MAX_LENGTH = 80_000
const MINUTE_MS = 60_000

/** Creates empty counts. */
export function createUsageCounts(): UsageCounts {
  return { open: new Map(), events: [], dropped: 0 }
}

/** Counts an evaluation. Returns `true` if it is the first one since the last `closeCounts`. */
export function countEvaluation({ open }: UsageCounts, flag: CompiledFlag, code: number): boolean {
  const counts = open.get(flag)?.counts
  if (counts === undefined) return false
  counts[code] = (counts[code] ?? 0) + 1
  return true
}

/** Begins to count the evaluations of a flag at `now`, unless too many flags have counts. */
export function openCounts(usage: UsageCounts, flag: CompiledFlag, now: number): void {
  if (usage.open.size >= MAX_WAITING) usage.dropped += 1
  else usage.open.set(flag, { from: now, counts: new Uint32Array(codeCountOf(flag)) })
}

/** Returns `true` if there are open counts of an earlier minute than that of `now`. */
export function hasEarlierMinute({ open }: UsageCounts, now: number): boolean {
  const [first] = open.values()
  return first !== undefined && Math.floor(first.from / MINUTE_MS) < Math.floor(now / MINUTE_MS)
}

/** Turns the open counts into events. Drops the oldest events if too many wait. */
export function closeCounts(usage: UsageCounts): void {
  for (const [flag, { from, counts }] of usage.open) {
    for (const [code, total] of counts.entries()) {
      for (let rest = total; rest > 0; rest -= MAX_EVENT_COUNT) {
        usage.events.push(eventOf(flag, code, { count: Math.min(rest, MAX_EVENT_COUNT), from }))
      }
    }
  }
  usage.open.clear()
  dropEvents(usage, Math.max(0, usage.events.length - MAX_WAITING))
}

function eventOf(
  { key, variations }: CompiledFlag,
  code: number,
  { count, from }: { readonly count: number; readonly from: number },
): SentEvaluation {
  const variationKey = variations[servedBy(code) - 1]?.key ?? null
  return {
    flagKey: key,
    variationKey,
    reason: reasonOf(code),
    count,
    from: new Date(from).toISOString(),
  }
}

/** Returns the number of the oldest events that fit into one report. */
function reportSize({ events }: UsageCounts): number {
  let length = 0
  let size = 0
  while (size < Math.min(events.length, MAX_EVENTS)) {
    length += eventsText(events.slice(size, size + 1)).length
    if (length > MAX_LENGTH && size > 0) break
    size += 1
  }
  return size
}

/** Turns the oldest events into a report. */
export function takeReport(usage: UsageCounts, id: string): UsageReport {
  const events = usage.events.splice(0, reportSize(usage))
  return { body: eventsText(events, id), evaluations: sumOf(events) }
}

/** Drops the oldest events, and counts their evaluations as dropped. */
export function dropEvents(usage: UsageCounts, size: number): void {
  usage.dropped += sumOf(usage.events.splice(0, size))
}

function sumOf(events: readonly SentEvaluation[]): number {
  return events.reduce((sum, { count }) => sum + count, 0)
}
