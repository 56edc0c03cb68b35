/**
 * A hint that an environment, the set of SDK keys, or any record of a project has changed. The store is the source of truth:
 * a subscriber reads the new state from the store, and ignores types that it does not know.
 */
export type FlagSetChange =
  | { readonly type: 'flagSet'; readonly environmentId: string; readonly version: number }
  | { readonly type: 'sdkKeys' }
  | { readonly type: 'project'; readonly projectId: string }

/** A signal that hints may have been lost: the subscriber must read all versions again. */
export interface Resync {
  readonly type: 'resync'
}

/** A function that receives each change. */
export type ChangeListener = (change: FlagSetChange | Resync) => void

/** Ends a subscription. Further calls have no effect. */
export type Unsubscribe = () => void

/** Sends hints between processes. Hints can arrive late, twice, out of order, or not at all. */
export interface ChangeFeed {
  /** Notifies every listener of every process, including this process. */
  publish(change: FlagSetChange): Promise<void>
  /**
   * Adds a listener and returns the function that removes it. A feed that is not connected yet sends
   * `resync` when it is. An error that a listener throws affects neither the publisher nor other
   * listeners.
   */
  subscribe(listener: ChangeListener): Promise<Unsubscribe>
}
