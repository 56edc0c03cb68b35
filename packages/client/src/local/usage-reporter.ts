import type { CompiledFlag } from '@ff/core'
import { eventsText, SDK_KEY_HEADER, SDK_PATHS } from '@ff/protocol/sdk'
import type { Alarms } from '../connection/alarms.ts'
import { backoffMs, minimumDelayMs } from '../connection/backoff.ts'
import type { Platform } from '../connection/platform.ts'
import { sendRequest } from '../transports/request.ts'
import type { Stop } from '../transports/transport.ts'
import {
  closeCounts,
  countEvaluation,
  createUsageCounts,
  dropEvents,
  hasEarlierMinute,
  openCounts,
  reportSize,
  type UsageCounts,
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
  stop: Stop | undefined
  /** The number of successive failures. */
  failures: number
  /** `true` if a request with the oldest events had no response. */
  isRepeated: boolean
  isClosed: boolean
  /** Called when a closed reporter has nothing more to send. */
  onIdle: () => void
}

const [REPORT, DEADLINE] = ['report', 'report deadline']
const INTERVAL_MS = 10_000
const ANSWER_TIMEOUT_MS = 10_000
const REFUSED_DELAY_MS = 150_000
/** The longest respected hint. The counts that can wait are limited. */
const MAX_MINIMUM_MS = 3_600_000
/** The statuses with which the server has counted nothing. */
const UNCOUNTED: readonly unknown[] = [401, 403, 429, 500]

/** Creates a reporter without counts. */
export function createUsageReporter(options: UsageReporterOptions): UsageReporter {
  const state = { stop: undefined, failures: 0, isRepeated: false, isClosed: false }
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

/** Reports the last counts. Resolves when they are sent, or when the attempt has failed. */
export function closeReporter(reporter: UsageReporter): Promise<void> {
  reporter.isClosed = true
  return new Promise((resolve) => {
    reporter.onIdle = resolve
    if (reporter.stop) closeCounts(reporter.usage)
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
  reportDropped(reporter, 'the client is closed')
  reporter.onIdle()
}

function schedule(reporter: UsageReporter, delayMs: number): void {
  reporter.alarms.set(REPORT, delayMs, () => flush(reporter))
}

function flush(reporter: UsageReporter): void {
  const { usage, platform, isAway, isClosed } = reporter
  const isWaiting = usage.events.length > 0
  // While events wait, the counts of a minute stay together.
  if (!isWaiting || isClosed || hasEarlierMinute(usage, platform.clock.now())) closeCounts(usage)
  reportDropped(reporter, 'too many reports wait')
  if (usage.events.length === 0) {
    if (isClosed) reporter.onIdle()
  } else if (isAway() && !isClosed) schedule(reporter, INTERVAL_MS)
  else send(reporter)
}

function send(reporter: UsageReporter): void {
  const { usage, platform, alarms, url, sdkKey } = reporter
  const size = reportSize(usage)
  const end = (_problem: string, code?: unknown, retryAfter?: unknown) => {
    reporter.stop?.()
    reporter.stop = undefined
    alarms.clear(DEADLINE)
    settle(reporter, { code, retryAfter, size })
  }
  const { fetch } = platform
  if (fetch === undefined) {
    end('', 400)
    return
  }
  alarms.set(DEADLINE, ANSWER_TIMEOUT_MS, () => end(''))
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', [SDK_KEY_HEADER]: sdkKey },
    body: eventsText(usage.events.slice(0, size)),
  }
  reporter.stop = sendRequest(fetch, url + SDK_PATHS.events, request, () => end('', 200), end)
}

interface ReportResult {
  /** The status of the response; no status if there was none. */
  readonly code: unknown
  /** The minimum time until the next attempt, in seconds. */
  readonly retryAfter: unknown
  /** The number of events in the report. */
  readonly size: number
}

/** Removes the sent events, or waits until the next attempt. */
function settle(reporter: UsageReporter, { code, retryAfter, size }: ReportResult): void {
  const { usage, platform, isRepeated, isClosed } = reporter
  const isUnknown = !UNCOUNTED.includes(code)
  const isRejected = code === 400 || code === 413
  if (code === 200 || isRejected || (isUnknown && isRepeated)) {
    if (code === 200) usage.events.splice(0, size)
    else dropEvents(usage, size)
    reportDropped(
      reporter,
      isRejected ? 'the server refused the report' : 'the server did not respond',
    )
    reporter.isRepeated = false
    reporter.failures = 0
    flushNext(reporter)
    return
  }
  if (isClosed) {
    abandonReports(reporter)
    return
  }
  reporter.isRepeated ||= isUnknown
  const isRefused = code === 401 || code === 403
  const delayMs = backoffMs(reporter.failures, Infinity, platform.random)
  reporter.failures += 1
  const minimumMs = Math.min(minimumDelayMs(retryAfter), MAX_MINIMUM_MS)
  schedule(reporter, Math.max(minimumMs, isRefused ? REFUSED_DELAY_MS : 0) + delayMs)
}

/** Sends the remaining events immediately, and new counts after the interval. */
function flushNext(reporter: UsageReporter): void {
  const { usage, isClosed } = reporter
  if (usage.events.length > 0 || isClosed) flush(reporter)
  else if (usage.open.size > 0) schedule(reporter, INTERVAL_MS)
}

function reportDropped({ usage, report }: UsageReporter, reason: string): void {
  const { dropped } = usage
  usage.dropped = 0
  if (dropped > 0) report(new Error(`${dropped} evaluations were not reported, because ${reason}`))
}
