import { MemoryChangeFeed } from '../memory/memory-change-feed.ts'
import { MemoryRateLimiter } from '../memory/memory-rate-limiter.ts'
import { openDataFile } from '../sqlite/data-file.ts'
import { type BareLink, linkAbout, type ToPrimary, type ToWorker } from './link.ts'
import { PrimaryEnd, type PrimaryPorts } from './primary-end.ts'

/** What workers share: the connection that writes to the data file, the feed, and the limiter. */
export class Primary {
  readonly #path: string
  readonly #ports: PrimaryPorts

  constructor(path: string, options: Pick<PrimaryPorts, 'silenceMs'> = {}) {
    this.#path = path
    this.#ports = {
      driver: openDataFile(path),
      changeFeed: new MemoryChangeFeed(),
      rateLimiter: new MemoryRateLimiter(),
      ...options,
    }
  }

  /** Answers a worker until it is gone. */
  serve(link: BareLink): void {
    new PrimaryEnd(linkAbout<ToWorker, ToPrimary>(this.#path, link), this.#ports)
  }

  /** Ends what was begun, then refuses everything. */
  close(): Promise<void> {
    return this.#ports.driver.close()
  }
}
