import type { ReachedTimes, ReceivedReport } from '@ff/storage'

/** The ratio of the upper bounds of neighbouring buckets. */
const RATIO = 1.25
/** The number of buckets. The last one begins at about 17 minutes. */
const BUCKETS = 64

/**
 * Counts the clients by the time after which they received a version. Times are rounded up to one of 64 bounds, each 1.25
 * times the previous one, so that the memory is constant.
 */
export class DeliveryTimes {
  readonly version: number
  /** The time at which the version was loaded, in epoch milliseconds. */
  readonly from: number
  readonly #counts: number[] = []

  constructor(version: number, from: number) {
    this.version = version
    this.from = from
  }

  /** Adds a number of clients that have received the version at this time. */
  add(now: number, clients: number): void {
    const delayMs = Math.max(0, now - this.from)
    const bucket = Math.min(BUCKETS - 1, Math.ceil(Math.log(delayMs + 1) / Math.log(RATIO)))
    while (this.#counts.length <= bucket) this.#counts.push(0)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + clients
  }

  /** Returns the counts for a report; `undefined` if no client has received the version. */
  toReached(): ReachedTimes | undefined {
    return this.#counts.length === 0 ? undefined : { from: this.from, counts: [...this.#counts] }
  }
}

/** Quantiles of the times from a publication to its delivery, in milliseconds. */
export interface ReachedQuantiles {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

interface Publication {
  readonly version: number
  /** The time of the publication in epoch milliseconds. */
  readonly publishedAt: number
}

/**
 * Returns the quantiles of the times from a publication until clients of any instance received it;
 * `null` if no client has received it. The counts of several instances are added: each bucket of a
 * report becomes its upper bound plus the time from the publication to the start of the report.
 */
export function reachedTimes(
  reports: readonly ReceivedReport[],
  { version, publishedAt }: Publication,
): ReachedQuantiles | null {
  const steps = reports
    .flatMap((report) => (report.version === version ? (report.reached ?? []) : []))
    .flatMap(({ from, counts }) => counts.map((clients, bucket) => ({ from, clients, bucket })))
    .map(({ from, clients, bucket }) => {
      return { clients, ms: Math.max(0, Math.round(from - publishedAt + RATIO ** bucket - 1)) }
    })
    .sort((a, b) => a.ms - b.ms)
  const total = steps.reduce((sum, { clients }) => sum + clients, 0)
  if (total === 0) return null
  const quantile = (share: number) => {
    let rest = Math.ceil(total * share)
    for (const { clients, ms } of steps) {
      rest -= clients
      if (rest <= 0) return ms
    }
    return 0
  }
  return { p50Ms: quantile(0.5), p95Ms: quantile(0.95), p99Ms: quantile(0.99) }
}
