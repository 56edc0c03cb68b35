import type { ChangeFeed } from './change-feed.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Storage } from './storage.ts'

/**
 * The ports that an adapter implements. Adapters are combined by spreading, and the last one wins:
 * `{ ...sqlite({ path }), ...redis({ client }) }`. Absent ports are kept in memory.
 */
export interface Capabilities {
  readonly storage?: Storage
  readonly changeFeed?: ChangeFeed
  readonly rateLimiter?: RateLimiter
}
