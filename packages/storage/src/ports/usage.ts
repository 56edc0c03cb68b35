import type { EvaluationReason } from '@ff/core'
import type { Records } from './records.ts'

/**
 * The operations on numbers that several instances add up, and on times that they mark. Outside a
 * transaction, calls with the numbers of different instances do not wait for each other, and no
 * deadlock is possible.
 */
export interface UsageSession {
  /**
   * Adds each count to the stored count of the same environment, flag, minute, outcome and instance.
   * Throws `INVALID_REQUEST`, and adds nothing, if one of the counts cannot be saved.
   */
  addEvaluationCounts(counts: readonly EvaluationCount[]): Promise<void>

  /**
   * Returns the counts of one flag in one environment, summed over all instances: one total per
   * outcome, in no particular order.
   */
  loadEvaluationCounts(query: EvaluationCountQuery): Promise<readonly EvaluationTotal[]>

  /** Removes the counts of all minutes before `beforeMinute`, a timestamp. */
  dropEvaluationCounts(beforeMinute: string): Promise<void>

  /**
   * Sets `lastEvaluatedAt` and `unusedSince` of living flags to `at`, a timestamp, unless
   * `lastEvaluatedAt` is the same or later. The revisions of the flags stay the same. A store that
   * can lock single records skips flags that another transaction has locked, and returns their ids.
   */
  markEvaluated(flagIds: readonly string[], at: string): Promise<readonly string[]>

  /**
   * Adds API calls to the pending ones of the same organization and instance. Throws
   * `INVALID_REQUEST`, and adds nothing, if one of the numbers cannot be saved.
   */
  addApiCalls(calls: readonly ApiCalls[]): Promise<void>

  /**
   * Returns the number of pending API calls, summed over all instances, of each of these
   * organizations that has any, by id. Without ids, of all organizations.
   */
  loadApiCalls(organizationIds?: readonly string[]): Promise<ReadonlyMap<string, number>>

  /**
   * Removes the pending API calls of an organization and returns their number. Each added call is
   * returned exactly once, even if instances add calls at the same time.
   */
  takeApiCalls(organizationId: string): Promise<number>
}

/**
 * API calls of an organization that are not yet part of `apiUsage` of its record. The usage of the
 * organization is the sum of both.
 */
export interface ApiCalls {
  readonly organizationId: string
  /** The id of the instance that counted. */
  readonly instanceId: string
  /** The number of calls. */
  readonly calls: number
}

/** The outcome of evaluations of a flag. */
export interface EvaluationOutcome {
  /** The id of the served variation; `null` if no variation was served. */
  readonly variationId: string | null
  readonly reason: EvaluationReason
  readonly source: EvaluationSource
}

/**
 * The source of evaluations: the transport of the server's response; `sdk` for a call in process or
 * a report with a server key; `client` for a report with a client key, which is public.
 */
export type EvaluationSource = Records['observedContext']['source'] | 'client'

/** The number of evaluations of a flag with the same outcome in one minute, on one instance. */
export interface EvaluationCount extends EvaluationOutcome {
  readonly environmentId: string
  readonly flagId: string
  /**
   * The id of the instance that counted, which is new at each start. Instances that write at the
   * same time do not wait for each other, because they write different rows.
   */
  readonly instanceId: string
  /** The timestamp of the start of the minute. */
  readonly minute: string
  /** The number of evaluations. */
  readonly count: number
  /** The total duration of these evaluations in microseconds, rounded to an integer. */
  readonly micros: number
}

/** Selects the counts of one flag in one environment over a range of minutes. */
export interface EvaluationCountQuery {
  readonly environmentId: string
  readonly flagId: string
  /** The range of minutes, as timestamps: `from <= minute < to`. */
  readonly from: string
  readonly to: string
}

/** The number and the total duration of evaluations with the same outcome. */
export interface EvaluationTotal extends EvaluationOutcome {
  readonly count: number
  readonly micros: number
}
