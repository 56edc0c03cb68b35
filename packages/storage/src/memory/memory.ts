import type { Ports } from '../ports/capabilities.ts'
import { MemoryChangeFeed } from './memory-change-feed.ts'
import { MemoryInstanceReports } from './memory-instance-reports.ts'
import { MemoryRateLimiter } from './memory-rate-limiter.ts'
import { createMemoryStorage } from './memory-storage.ts'

/**
 * Creates all ports that a server needs, for one process. All data is lost when the process ends.
 *
 * @example
 * createFlagServer({ ...memory() })
 */
export function memory(): Ports {
  return {
    storage: createMemoryStorage(),
    changeFeed: new MemoryChangeFeed(),
    rateLimiter: new MemoryRateLimiter(),
    instanceReports: new MemoryInstanceReports(),
  }
}
