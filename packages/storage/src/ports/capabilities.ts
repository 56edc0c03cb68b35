import type { ChangeFeed } from './change-feed.ts'
import type { InstanceReports } from './instance-reports.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { RecentEvents } from './recent-events.ts'
import type { Storage } from './storage.ts'
import type { StoreTime } from './store-time.ts'

/** The ports of a server. */
export interface Ports {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly rateLimiter: RateLimiter
  readonly instanceReports: InstanceReports
}

/**
 * The ports that an adapter implements. Adapters are combined by spreading. If several adapters
 * implement a port, the last one is used: `{ ...postgres({ url }), ...redis({ url }) }`. The
 * server uses an in-memory implementation for each port that is absent.
 */
export interface Capabilities extends Partial<Ports> {
  /** Without it, the newest audit entries are always read from the store. */
  readonly recentEvents?: RecentEvents
  /** The time that all instances use. Without it, each instance uses the clock of its machine. */
  readonly storeTime?: StoreTime
  /** Closes connections that `storage.close` does not close. The server calls it when it is closed. */
  readonly close?: () => Promise<void>
}
