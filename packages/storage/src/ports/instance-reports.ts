/**
 * The live clients of one instance in one environment. The numbers describe one moment, and the
 * next report replaces them.
 */
export interface InstanceReport {
  readonly environmentId: string
  /** The version of the flag set that the instance sends to its clients. */
  readonly version: number
  /** The number of connected sockets. */
  readonly ws: number
  /** The number of pending polls and open event streams. */
  readonly poll: number
  /** The number of clients that have not received all changes up to `version`. */
  readonly behind: number
  /**
   * The number of clients that have confirmed that they have `version`; `null` if no client of the
   * instance confirms versions.
   */
  readonly applied: number | null
  /** The number of clients by the version that they have received, in no particular order. */
  readonly byVersion: readonly VersionCount[]
  /** When the clients received `version`; absent if the instance has sent it to no client. */
  readonly reached?: ReachedTimes
}

/** The number of clients that have received a version, and no later version. */
export interface VersionCount {
  readonly version: number
  readonly clients: number
}

/** The times at which clients received a version. */
export interface ReachedTimes {
  /** The time at which the instance had loaded the version, in epoch milliseconds. */
  readonly from: number
  /**
   * The number of clients by the time from `from` to the delivery. The writer and the reader of a
   * report define the meaning of the indexes.
   */
  readonly counts: readonly number[]
}

/** A report with its instance and its age. */
export interface ReceivedReport extends InstanceReport {
  readonly instanceId: string
  /** The time since the report was received, in milliseconds, by one clock for all instances. */
  readonly ageMs: number
}

/** The age in milliseconds from which a report, or an instance without a report, no longer counts. */
export const REPORT_LIFETIME_MS = 15_000

/**
 * The last report of each instance about each environment. All instances that serve the same store
 * share the reports. A reader ignores reports that are older than `REPORT_LIFETIME_MS`, and an
 * implementation may delete them.
 */
export interface InstanceReports {
  /**
   * Stores reports. Each replaces the earlier report of this instance about the environment. Returns
   * the number of running instances, including this one: those that have called this method within
   * `REPORT_LIFETIME_MS`, with or without reports, and have not withdrawn all their reports since.
   */
  report(instanceId: string, reports: readonly InstanceReport[]): Promise<number>
  /**
   * Removes the reports of an instance about these environments. By default, removes all its
   * reports, and the instance no longer counts as running.
   */
  withdraw(instanceId: string, environmentIds?: readonly string[]): Promise<void>
  /** Returns the last report of each instance about an environment, in no particular order. */
  list(environmentId: string): Promise<readonly ReceivedReport[]>
}
