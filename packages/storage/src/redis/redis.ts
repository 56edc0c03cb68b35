import type { FlagError } from '@ff/core'
import type { Capabilities } from '../ports/capabilities.ts'
import { RedisChangeFeed } from './redis-change-feed.ts'
import { RedisConnection } from './redis-connection.ts'
import { RedisRateLimiter } from './redis-rate-limiter.ts'
import { RedisRecentEvents } from './redis-recent-events.ts'
import { type RedisOptions, redisSettings } from './redis-settings.ts'

export type { RedisOptions } from './redis-settings.ts'

/** The ports that `redis` implements. */
export type RedisCapabilities = Required<
  Pick<Capabilities, 'changeFeed' | 'rateLimiter' | 'recentEvents' | 'close'>
>

/**
 * Creates a change feed, a rate limiter, and a copy of the newest audit entries, for all servers with
 * the same Redis and the same store. Needs the package `ioredis`. Throws `INVALID_REQUEST` if an option
 * is invalid.
 *
 * Redis is never required. While it is unavailable, the rate limiter throws `UNAVAILABLE` at once,
 * and no change is announced: servers find changes by their periodic check of the versions. A
 * command that takes longer than 250 ms has failed.
 *
 * @example
 * createFlagServer({ ...postgres({ url, listenUrl: false }), ...redis({ url: 'redis://localhost' }) })
 */
export function redis(options: RedisOptions): RedisCapabilities {
  const settings = redisSettings(options)
  const status = new Status(options.onStatus)
  const commands = new RedisConnection({
    settings,
    // A replica responds, but refuses writes.
    check: (client) => client.set(`${settings.prefix}:{check}`, '', 'PX', 1000),
    onStatus: (unavailable) => status.set('commands', unavailable),
  })
  const changeFeed = new RedisChangeFeed({
    ...{ settings, commands },
    onStatus: (unavailable) => status.set('subscriber', unavailable),
  })
  return {
    changeFeed,
    rateLimiter: new RedisRateLimiter(commands, settings.prefix),
    recentEvents: new RedisRecentEvents(commands, settings.prefix),
    async close() {
      commands.close()
      changeFeed.close()
    },
  }
}

/** The status of all connections together, which is reported when it changes. */
class Status {
  readonly #report: RedisOptions['onStatus']
  readonly #unavailable = new Map<string, FlagError>()

  constructor(report: RedisOptions['onStatus']) {
    this.#report = report
  }

  /** Sets the status of one connection. */
  set(connection: string, unavailable: FlagError | undefined): void {
    const { size } = this.#unavailable
    if (unavailable === undefined) this.#unavailable.delete(connection)
    else this.#unavailable.set(connection, unavailable)
    if (size === 0 && unavailable !== undefined) this.#report?.(unavailable)
    if (size > 0 && this.#unavailable.size === 0) this.#report?.(undefined)
  }
}
