import { redis } from '@ff/storage/redis'
import { describe, expect, inject, it } from 'vitest'
import { systemClock } from '../../../../server/src/runtime/clock.ts'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { FakeClock } from '../../../../server/test/fake-clock.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { newRedisOptions, startRedis } from '../../../../storage/test/redis-store.ts'
import type { ManagedOptions } from '../../world/managed-server.ts'
import { pause } from '../server-process.ts'
import { createShop, type RunningInstance, startInstance, startInstances } from './instances.ts'

const LIMIT = sized({ full: 6000, small: 300 })
/** The time within which all requests of a test are sent. */
const WINDOW_MS = sized({ full: 30_000, small: 12_000 })

describe('the rate limit of a key at several instances over PostgreSQL', {
  timeout: 300_000,
}, () => {
  const counts = [
    { count: 2, tolerance: IS_FULL ? 0.02 : 0.1 },
    { count: 10, tolerance: 0.1 },
  ]
  const limiters = inject('redisUrl') === '' ? ['PostgreSQL'] : ['PostgreSQL', 'Redis']
  it.each(limiters.flatMap((limiter) => counts.map((each) => ({ limiter, ...each }))))(
    '$count instances grant the limit in total, with the rate limiter of $limiter',
    async ({ limiter, count, tolerance }) => {
      const { url } = await newPostgresSchema()
      const database = { url, listenUrl: false, readConnections: 2, writeConnections: 4 } as const
      const options = newRedisOptions()
      // At full size, the window of the real clock is long enough for all requests.
      const clock = IS_FULL ? systemClock : new FakeClock(Date.now())
      const instances = await startInstances(count, database, () => {
        return { clock, ...(limiter === 'Redis' && redis(options)) }
      })
      if (IS_FULL) await windowWith(WINDOW_MS)
      const granted = await exhaust(instances)
      report(
        `${count} instances, limit ${LIMIT}, rate limiter of ${limiter}: ${granted} requests granted in one window`,
      )
      expect(Math.abs(granted - LIMIT) / LIMIT).toBeLessThanOrEqual(tolerance)
    },
  )

  it.each([
    ['fails', async () => ({ rateLimiter: { lease: () => Promise.reject(new Error('away')) } })],
    ...(inject('hasRedisServer') ? [['is a suspended Redis', suspendedRedis] as const] : []),
  ] as const)(
    'Three instances grant at most 1.1 times the limit while the rate limiter %s',
    async (limiter, createOptions) => {
      const { url } = await newPostgresSchema()
      const database = { url, listenUrl: false } as const
      const instances: RunningInstance[] = []
      for (let n = 0; n < 3; n += 1) {
        instances.push(await startInstance(database, await createOptions()))
      }
      // Each instance reports, and learns the number of instances, every five seconds.
      await pause(5500)
      await windowWith(WINDOW_MS)
      const granted = await exhaust(instances)
      report(
        `3 instances whose rate limiter ${limiter}, limit ${LIMIT}: ${granted} requests granted in one window`,
      )
      expect(granted).toBeGreaterThan(0.9 * LIMIT)
      expect(granted).toBeLessThanOrEqual(1.1 * LIMIT)
    },
  )
})

/** Returns the ports of a Redis server that does not respond. */
async function suspendedRedis(): Promise<ManagedOptions> {
  const server = await startRedis()
  server.suspend()
  return redis({ url: server.url })
}

/** Sends requests to all instances in turn within one window. Returns the number that passed. */
async function exhaust(instances: readonly RunningInstance[]): Promise<number> {
  const [first] = instances
  if (first === undefined) throw new Error('There is no instance.')
  const shop = await createShop(first.management, { rateLimit: LIMIT })
  for (const { url } of instances) {
    await expect.poll(() => askForFlagSet(url, 'unknown')).toBe(401)
  }
  let granted = 0
  const perInstance = Math.ceil((1.2 * LIMIT) / instances.length)
  const senders = instances.flatMap(({ url }) =>
    Array.from({ length: 4 }, async (_, sender) => {
      for (let n = sender; n < perInstance; n += 4) {
        if ((await askForFlagSet(url, shop.sdkKey)) === 200) granted += 1
      }
    }),
  )
  await Promise.all(senders)
  return granted
}

/** Sends a request that counts once, however busy the machine is. Returns the status. */
async function askForFlagSet(url: string, sdkKey: string): Promise<number> {
  const response = await fetch(`${url}/evaluator/flag-set`, { headers: { 'x-api-key': sdkKey } })
  await response.arrayBuffer()
  return response.status
}

/** Waits until at least `ms` milliseconds are left in the window of a minute. */
async function windowWith(ms: number): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < ms) await pause(left)
}
