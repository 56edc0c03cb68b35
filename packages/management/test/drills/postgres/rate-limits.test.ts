import { redis } from '@ff/storage/redis'
import { describe, expect, inject, it } from 'vitest'
import { systemClock } from '../../../../server/src/runtime/clock.ts'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { FakeClock } from '../../../../server/test/fake-clock.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { newRedisOptions, startRedis } from '../../../../storage/test/redis-store.ts'
import type { ManagedOptions } from '../../world/managed-server.ts'
import { pause } from '../server-process.ts'
import {
  askForFlagSet,
  createShop,
  type RunningInstance,
  startInstance,
  startInstances,
} from './instances.ts'

const LIMIT = sized({ full: 6000, small: 300 })
const WINDOW_MS = 60_000
/** The time within which a machine that is not busy sends all requests of a test. */
const SENT_WITHIN_MS = sized({ full: 30_000, small: 12_000 })

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
      // At full size, a window of the real clock is long enough for all requests.
      const clock = IS_FULL ? systemClock : new FakeClock(Date.now())
      const instances = await startInstances(count, database, () => {
        return { clock, ...(limiter === 'Redis' && redis(options)) }
      })
      const granted = await (IS_FULL ? exhaustWithinWindow : exhaust)(instances)
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
      // Each instance reports, and learns the number of instances, every five seconds. Until it has
      // done so, it grants more than its share.
      let granted = Number.POSITIVE_INFINITY
      while (granted > 1.1 * LIMIT) granted = await exhaustWithinWindow(instances)
      report(
        `3 instances whose rate limiter ${limiter}, limit ${LIMIT}: ${granted} requests granted in one window`,
      )
      expect(granted).toBeGreaterThan(0.9 * LIMIT)
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
  // An instance that reads the keys reads all of them. The key that is created last tells when it
  // knows the key of the shop, and leaves the limit of that key alone.
  const { projectId, environmentId } = shop
  const probe = await first.management.createSdkKey({
    params: { projectId, environmentId },
    body: { name: 'probe', kind: 'server' },
  })
  for (const { url } of instances) {
    await expect.poll(() => askForFlagSet(url, probe.key), { timeout: 10_000 }).toBe(200)
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

/** Sends requests as `exhaust` does, again until all of them are sent within one window. */
async function exhaustWithinWindow(instances: readonly RunningInstance[]): Promise<number> {
  for (;;) {
    const left = WINDOW_MS - (Date.now() % WINDOW_MS)
    if (left < SENT_WITHIN_MS) await pause(left)
    const window = Math.floor(Date.now() / WINDOW_MS)
    const granted = await exhaust(instances)
    if (Math.floor(Date.now() / WINDOW_MS) === window) return granted
  }
}
