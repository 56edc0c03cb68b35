import type { EventsAnswer } from '@ff/protocol/sdk'
import type { Clock } from '../runtime/clock.ts'
import { MAX_COUNTED_REPORTS, MAX_COUNTED_REPORTS_OF_KEY } from '../runtime/memory-bounds.ts'

/** The identity of a report. The id is unique among the reports with an SDK key. */
interface ReportName {
  readonly keyId: string
  readonly id: string
}

interface CountedReport extends ReportName, EventsAnswer {
  /** The monotonic time at which the report was counted. */
  readonly at: number
  /** The position in the order of all reports. */
  readonly number: number
  /** The next report with the same key. */
  newer: CountedReport | undefined
}

/** The reports of one key. They are forgotten in the order in which they were counted. */
interface ReportsOfKey {
  readonly byId: Map<string, CountedReport>
  oldest: CountedReport
  newest: CountedReport
}

/** The maximum numbers of remembered reports. */
interface ReportLimits {
  readonly ofKey: number
  readonly ofAll: number
}

/** The time for which a report is remembered. */
const REMEMBERED_MS = 3_600_000

const LIMITS: ReportLimits = { ofKey: MAX_COUNTED_REPORTS_OF_KEY, ofAll: MAX_COUNTED_REPORTS }

/**
 * Remembers the reports of the last hour, so that a repeated report is counted once. If a key or all
 * keys together have too many reports, the oldest are forgotten.
 */
export class CountedReports {
  readonly #clock: Pick<Clock, 'monotonicNow'>
  readonly #limits: ReportLimits
  readonly #byKey = new Map<string, ReportsOfKey>()
  readonly #byNumber = new Map<number, CountedReport>()
  /** All remembered reports have a number of at least this. */
  #first = 0
  /** The number of the next report. */
  #next = 0

  constructor(clock: Pick<Clock, 'monotonicNow'>, limits = LIMITS) {
    this.#clock = clock
    this.#limits = limits
  }

  /** The number of remembered reports. */
  get size(): number {
    return this.#byNumber.size
  }

  /**
   * Counts a report with `count` and returns its result. Returns the earlier result without a call
   * of `count` if the report is remembered. If `count` throws, the report is not remembered.
   */
  answerOnce(name: ReportName, count: () => EventsAnswer): EventsAnswer {
    const now = this.#clock.monotonicNow()
    this.#forgetUntil(now - REMEMBERED_MS)
    const known = this.#byKey.get(name.keyId)?.byId.get(name.id)
    if (known !== undefined) return { accepted: known.accepted, ignored: known.ignored }
    const answer = count()
    this.#makeRoom(name)
    const { keyId, id } = name
    const { accepted, ignored } = answer
    const number = this.#next
    this.#add({ keyId, id, accepted, ignored, at: now, number, newer: undefined })
    return answer
  }

  #add(report: CountedReport): void {
    this.#next += 1
    this.#byNumber.set(report.number, report)
    const ofKey = this.#byKey.get(report.keyId)
    if (ofKey === undefined) {
      const byId = new Map([[report.id, report]])
      this.#byKey.set(report.keyId, { byId, oldest: report, newest: report })
      return
    }
    ofKey.byId.set(report.id, report)
    ofKey.newest.newer = report
    ofKey.newest = report
  }

  #makeRoom({ keyId }: ReportName): void {
    const ofKey = this.#byKey.get(keyId)
    if (ofKey !== undefined && ofKey.byId.size >= this.#limits.ofKey) this.#forget(ofKey.oldest)
    else if (this.size >= this.#limits.ofAll) this.#forget(this.#oldest())
  }

  #forgetUntil(time: number): void {
    let oldest = this.#oldest()
    while (oldest !== undefined && oldest.at <= time) {
      this.#forget(oldest)
      oldest = this.#oldest()
    }
  }

  #oldest(): CountedReport | undefined {
    while (this.#first < this.#next && !this.#byNumber.has(this.#first)) this.#first += 1
    return this.#byNumber.get(this.#first)
  }

  /** Forgets the oldest report of a key. */
  #forget(report: CountedReport | undefined): void {
    const ofKey = report && this.#byKey.get(report.keyId)
    if (report === undefined || ofKey === undefined) return
    this.#byNumber.delete(report.number)
    ofKey.byId.delete(report.id)
    if (report.newer === undefined) this.#byKey.delete(report.keyId)
    else ofKey.oldest = report.newer
  }
}
