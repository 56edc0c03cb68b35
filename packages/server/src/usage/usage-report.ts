import { MAX_CLIENT_REPORTED_COUNT, MAX_CLIENT_REPORTED_MICROS } from '@ff/protocol/sdk'
import type { EvaluationCount } from '@ff/storage'

/** What an application has evaluated itself. */
export interface UsageReport {
  readonly environmentId: string
  /** `client` if the report was sent with a client key. */
  readonly source: 'sdk' | 'client'
  readonly counts: readonly ReportedCount[]
}

export interface ReportedCount extends Omit<EvaluationCount, 'environmentId' | 'source'> {
  /** The keys of the contexts, to be counted as users of the flag. */
  readonly contextKeys: readonly string[]
}

/** Bounds what one request with a client key adds to the counts: such a key is public. */
export class ClientReportLimit {
  /** Evaluations counted so far, by flag id. */
  readonly #counted = new Map<string, number>()

  /**
   * Returns the part of a count that its flag may still add, with its share of the time and at most
   * one context key for each evaluation; `undefined` if the bound of the flag is reached.
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
