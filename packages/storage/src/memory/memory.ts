import type { Capabilities } from '../ports/capabilities.ts'
import { MemoryChangeFeed } from './memory-change-feed.ts'
import { MemoryRateLimiter } from './memory-rate-limiter.ts'
import { createMemoryStorage } from './memory-storage.ts'

/**
 * Everything a server needs, within one process; nothing outlives it.
 *
 * @example
 * createFlagServer({ ...memory() })
 */
export function memory(): Required<Capabilities> {
  return {
    storage: createMemoryStorage(),
    changeFeed: new MemoryChangeFeed(),
    rateLimiter: new MemoryRateLimiter(),
  }
}
