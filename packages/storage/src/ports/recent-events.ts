import type { Records } from './records.ts'

/** The maximum number of entries that are kept of each chain. */
export const MAX_RECENT_EVENTS = 1000

/**
 * A copy of the newest entries of chains of the audit log, which can be lost at any time. The store is
 * the source of truth: a reader passes the hash of the newest entry in the store, so that it never
 * receives a copy that differs from the store. No method rejects.
 */
export interface RecentEvents {
  /**
   * Adds an entry that was committed. If the copy of the chain does not end with the entry before it,
   * removes the copy.
   */
  add(chain: string, entry: Records['auditEvent']): Promise<void>
  /**
   * Returns the newest entries of a chain, newest first: 1,000, or all if there are fewer. Returns
   * `undefined` if there is no copy, or the newest entry of the copy has another hash.
   */
  find(chain: string, newestHash: string): Promise<readonly Records['auditEvent'][] | undefined>
  /** Replaces the copy of a chain by its newest entries, newest first. */
  fill(chain: string, entries: readonly Records['auditEvent'][]): Promise<void>
}
