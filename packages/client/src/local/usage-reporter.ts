import type { CompiledFlag } from '@ff/core'
import { SDK_KEY_HEADER, SDK_PATHS } from '@ff/protocol/sdk'
import type { Alarms } from '../connection/alarms.ts'
import { backoffMs, minimumDelayMs } from '../connection/backoff.ts'
import type { Platform } from '../connection/platform.ts'
import { sendRequest } from '../transports/request.ts'
import type { End, Stop } from '../transports/transport.ts'
import {
  closeCounts,
  countEvaluation,
  createUsageCounts,
  dropEvents,
  hasEarlierMinute,
  openCounts,
  takeReport,
  type UsageCounts,
  type UsageReport,
} from './usage-counts.ts'

/** The parts that a reporter needs. */
export interface UsageReporterOptions {
  readonly url: string
  readonly sdkKey: string
  readonly platform: Platform
  readonly alarms: Alarms
  /** Returns `true` if the server is known to be away. Reports wait until it is back. */
  readonly isAway: () => boolean
  readonly report: (error: unknown) => void
}

/** Sends the counts of evaluations to the server. At most one request is in progress. */
export interface UsageReporter extends UsageReporterOptions {
  readonly usage: UsageCounts
  /** The report that is sent until the server has responded to it. Its events are not in `usage`. */
  pending: UsageReport | undefined
  stop: Stop | undefined
  /** The number of successive failures. */
  failures: number
  isClosed: boolean
  /** The monotonic time at which the last attempts of a closed reporter end. */
  endsAt: number
  /** Called when a closed reporter has nothing more to send. */
  onIdle: () => void
}

/** The maximum time for the last reports. */
export const CLOSE_TIMEOUT_MS = 5000
const [REPORT, DEADLINE] = ['report', 'report deadline']
const globals = globalThis as { readonly crypto?: { randomUUID?(): string } }
const INTERVAL_MS = 10_000
const ANSWER_TIMEOUT_MS = 10_000
const REFUSED_DELAY_MS = 150_000
/** The number of successive failures after which the cause is reported. */
const NOTED_FAILURES = 6
/** The longest respected hint. The counts that can wait are limited. */
const MAX_MINIMUM_MS = 3_600_000

/** Creates a reporter without counts. */
export function createUsageReporter(options: UsageReporterOptions): UsageReporter {
  const state = { pending: undefined, stop: undefined, failures: 0, isClosed: false, endsAt: 0 }
  return { ...options, ...state, usage: createUsageCounts(), onIdle: () => {} }
}

/** Counts an evaluation at `now` (epoch milliseconds). Does nothing if the reporter is closed. */
export function reportEvaluation(
  reporter: UsageReporter,
  flag: CompiledFlag,
  code: number,
  now: number,
): void {
  const { usage } = reporter
  if (countEvaluation(usage, flag, code) || reporter.isClosed) return
  openCounts(usage, flag, now)
  countEvaluation(usage, flag, code)
  if (!reporter.stop && !reporter.alarms.has(REPORT)) schedule(reporter, INTERVAL_MS)
}

/**
 * Reports the last counts. Resolves when they are sent, or when no attempt can succeed within
 * `CLOSE_TIMEOUT_MS`. The caller abandons the reports after this time.
 */
export function closeReporter(reporter: UsageReporter): Promise<void> {
  const { alarms, usage, stop } = reporter
  reporter.isClosed = true
  reporter.endsAt = alarms.now() + CLOSE_TIMEOUT_MS
  // The first delays are short, so that there is time for several attempts.
  reporter.failures = 0
  return new Promise((resolve) => {
    reporter.onIdle = resolve
    alarms.clear(REPORT)
    if (stop) closeCounts(usage)
    else flush(reporter)
  })
}

/** Drops all counts and ends the request in progress. */
export function abandonReports(reporter: UsageReporter): void {
  const { usage, alarms, stop } = reporter
  stop?.()
  reporter.stop = undefined
  alarms.clear(REPORT)
  alarms.clear(DEADLINE)
  closeCounts(usage)
  dropEvents(usage, usage.events.length)
  dropPending(reporter)
  reportDropped(reporter, 'the client is closed')
  reporter.onIdle()
}

function schedule(reporter: UsageReporter, delayMs: number): void {
  reporter.alarms.set(REPORT, delayMs, () => flush(reporter))
}

function flush(reporter: UsageReporter): void {
  const { usage, platform, isAway, isClosed } = reporter
  const hasEvents = () => reporter.pending !== undefined || usage.events.length > 0
  // While events wait, the counts of a minute stay together.
  if (!hasEvents() || isClosed || hasEarlierMinute(usage, platform.clock.now())) {
    closeCounts(usage)
  }
  reportDropped(reporter, 'too many reports wait')
  if (!hasEvents()) {
    if (isClosed) reporter.onIdle()
  } else if (isAway() && !isClosed) schedule(reporter, INTERVAL_MS)
  else send(reporter)
}

function send(reporter: UsageReporter): void {
  const { usage, platform, alarms, url, sdkKey } = reporter
  reporter.pending ??= takeReport(usage, newId(platform))
  const { body } = reporter.pending
  const onEnd = (end: End) => {
    reporter.stop?.()
    reporter.stop = undefined
    alarms.clear(DEADLINE)
    settle(reporter, end)
  }
  const { fetch } = platform
  if (fetch === undefined) {
    onEnd({ problem: 'no transport', code: 400 })
    return
  }
  alarms.set(DEADLINE, ANSWER_TIMEOUT_MS, () => onEnd({ problem: 'no response within 10 s' }))
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', [SDK_KEY_HEADER]: sdkKey },
    body,
  }
  reporter.stop = sendRequest(
    fetch,
    url + SDK_PATHS.events,
    request,
    ({ status }) => onEnd({ problem: `${status}`, code: status }),
    onEnd,
  )
}

/** Returns a text that no other report has, so that the server counts a repeated report once. */
function newId({ random, clock }: Platform): string {
  return globals.crypto?.randomUUID?.() ?? `${random()} ${clock.now()}`
}

/** Drops the report if the server has counted or refused it, otherwise waits until the next attempt. */
function settle(reporter: UsageReporter, { problem, code, retryAfter }: End): void {
  const { platform, alarms, isClosed, endsAt } = reporter
  if (code === 200 || code === 400 || code === 413) {
    if (code !== 200) {
      dropPending(reporter)
      reportDropped(reporter, 'the server refused the report')
    }
    reporter.pending = undefined
    reporter.failures = 0
    flushNext(reporter)
    return
  }
  const isRefused = code === 401 || code === 403
  const minimumMs = Math.min(minimumDelayMs(retryAfter), MAX_MINIMUM_MS)
  const delayMs =
    Math.max(minimumMs, isRefused ? REFUSED_DELAY_MS : 0) +
    backoffMs(reporter.failures, Infinity, platform.random)
  reporter.failures += 1
  // The repetition repairs a few failures.
  if (reporter.failures === NOTED_FAILURES && !isClosed) {
    const message = `Evaluations cannot be reported to ${reporter.url}: ${problem}`
    reporter.report(Object.assign(new Error(message), { code: 'notReported' }))
  }
  const isHopeless = code === undefined || alarms.now() + delayMs > endsAt
  if (isClosed && isHopeless) abandonReports(reporter)
  else schedule(reporter, delayMs)
}

/** Sends the remaining events immediately, and new counts after the interval. */
function flushNext(reporter: UsageReporter): void {
  const { usage, isClosed } = reporter
  if (usage.events.length > 0 || isClosed) flush(reporter)
  else if (usage.open.size > 0) schedule(reporter, INTERVAL_MS)
}

function dropPending(reporter: UsageReporter): void {
  reporter.usage.dropped += reporter.pending?.evaluations ?? 0
  reporter.pending = undefined
}

function reportDropped({ usage, report }: UsageReporter, reason: string): void {
  const { dropped: evaluations } = usage
  usage.dropped = 0
  if (evaluations > 0) {
    const message = `Evaluations were not reported, because ${reason}`
    report(Object.assign(new Error(message), { code: 'notReported', evaluations }))
  }
}
