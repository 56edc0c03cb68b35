/** A hint that an environment, or the set of SDK keys, has changed; the store holds the truth. */
export type FlagSetChange =
  | { readonly type: 'flagSet'; readonly environmentId: string; readonly version: number }
  | { readonly type: 'sdkKeys' }

/** Hints may have been lost: re-read versions. */
export interface Resync {
  readonly type: 'resync'
}

/** Receives each change. */
export type ChangeListener = (change: FlagSetChange | Resync) => void

/** Ends a subscription. */
export type Unsubscribe = () => void

/** Hints between processes. They may be late, doubled, out of order or lost. */
export interface ChangeFeed {
  /** Notifies every listener of every process, this one included. */
  publish(change: FlagSetChange): Promise<void>
  /** A listener that throws disturbs neither the publisher nor other listeners. */
  subscribe(listener: ChangeListener): Promise<Unsubscribe>
}
