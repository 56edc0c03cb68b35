import { postgres } from '@ff/storage/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { IS_FULL, report, sized } from '../../../../server/test/drills/scale.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { newRedisOptions } from '../../../../storage/test/redis-store.ts'
import { SYSTEM } from '../../../src/index.ts'
import { createManagedServer } from '../../world/managed-server.ts'
import { pause, type ServerProcess, startServer } from '../server-process.ts'
import { askForFlagSet, createShop, type Shop } from './instances.ts'

const LIMIT = sized({ full: 3000, small: 300 })
/** The seconds by which one of the clocks is ahead. */
const SKEWS = IS_FULL ? [-120, -30, 30, 120] : [-120, 30]
const WINDOW_MS = 60_000
const SENT_WITHIN_MS = sized({ full: 25_000, small: 10_000 })
const LIMITERS = inject('redisUrl') === '' ? ['PostgreSQL'] : ['PostgreSQL', 'Redis']

describe('instances whose clocks differ', { timeout: 300_000 }, () => {
  it.each(LIMITERS.flatMap((limiter) => SKEWS.map((skew) => ({ skew, limiter }))))(
    'An instance whose clock is $skew s wrong and another one grant the limit in total and apply a change in time, with the rate limiter of $limiter',
    async ({ skew, limiter }) => {
      const { url } = await newPostgresSchema()
      const shared = limiter === 'Redis' ? newRedisOptions() : undefined
      const flags = createManagedServer({ ...postgres({ url, listenUrl: false }), jobs: 'off' })
      onTestFinished(() => flags.close())
      await flags.start()
      const management = flags.as(SYSTEM)
      const shop = await createShop(management, { rateLimit: LIMIT })
      // The first one holds the lease of the jobs, and therefore applies the change.
      const wrong = await startServer(url, { skewMs: skew * 1000, redis: shared, isSilent: true })
      const right = await startServer(url, { redis: shared })

      const granted = await exhaustWithinWindow([wrong, right], shop)
      report(`${skew} s, ${limiter}: ${granted} of ${LIMIT} requests granted in one window`)
      expect(Math.abs(granted - LIMIT) / LIMIT).toBeLessThanOrEqual(0.02)

      const dueAt = Date.now() + 4000
      await management.createScheduledChange({
        params: shop,
        body: {
          applyAt: new Date(dueAt).toISOString(),
          operation: 'updateFlagState',
          body: { is_active: true },
        },
      })
      const isApplied = async () => {
        const { data } = await management.listScheduledChanges({ params: shop })
        return data[0]?.status === 'applied'
      }
      while (!(await isApplied())) await pause(20)
      const appliedAt = Date.now()
      report(`${skew} s, ${limiter}: the change was applied ${appliedAt - dueAt} ms after its time`)
      expect(appliedAt - dueAt).toBeGreaterThanOrEqual(0)
      expect(appliedAt - dueAt).toBeLessThanOrEqual(2000)
    },
  )
})

/** Sends requests to all instances, within one window, until they are refused. Returns the number that passed. */
async function exhaustWithinWindow(
  instances: readonly ServerProcess[],
  { sdkKey }: Shop,
): Promise<number> {
  const left = WINDOW_MS - (Date.now() % WINDOW_MS)
  if (left < SENT_WITHIN_MS) await pause(left)
  const granted = instances.flatMap(({ url }) =>
    Array.from({ length: 4 }, async () => {
      for (let passed = 0; ; passed += 1) {
        const status = await askForFlagSet(url, sdkKey)
        if (status === 429) return passed
        expect(status).toBe(200)
      }
    }),
  )
  return (await Promise.all(granted)).reduce((sum, each) => sum + each, 0)
}
