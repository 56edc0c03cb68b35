import type { RateLimiter, RateWindow } from '../ports/rate-limiter.ts'
import type { RedisConnection } from './redis-connection.ts'

/**
 * Grants up to `ARGV[1]` requests if fewer than `ARGV[2]` have been granted. The key expires
 * `ARGV[3]` milliseconds after the last grant.
 */
const LEASE = `
local granted = tonumber(redis.call('get', KEYS[1]) or '0')
local grant = math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - granted)
if grant <= 0 then return 0 end
redis.call('incrby', KEYS[1], grant)
redis.call('pexpire', KEYS[1], ARGV[3])
return grant`

/** A rate limiter for all processes with the same Redis. Each lease is one script. */
export class RedisRateLimiter implements RateLimiter {
  readonly #commands: RedisConnection
  readonly #prefix: string

  constructor(commands: RedisConnection, prefix: string) {
    this.#commands = commands
    this.#prefix = prefix
  }

  async lease(key: string, window: RateWindow, amount: number): Promise<number> {
    const { limit, startedAt, lengthMs } = window
    if (limit <= 0 || amount <= 0) return 0
    const name = `${this.#prefix}:rate:{${key}}:${startedAt}:${lengthMs}`
    // An instance whose clock is late can still use the window after its end.
    const expiresAfter = 2 * lengthMs
    const granted = await this.#commands.run((client) => {
      return client.eval(LEASE, 1, name, amount, limit, expiresAfter)
    })
    return Number(granted)
  }
}
