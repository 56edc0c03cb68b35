import type { ChangeFeed } from './change-feed.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Storage } from './storage.ts'

/**
 * What an adapter brings. Abilities are put together by spreading, and the last one named wins:
 * `{ ...sqlite({ path }), ...redis({ client }) }`. What nobody brings is kept in memory.
 */
export interface Capabilities {
  readonly storage?: Storage
  readonly changeFeed?: ChangeFeed
  readonly rateLimiter?: RateLimiter
}
