import type { PostgresOptions } from '@ff/storage/postgres'
import { type RedisOptions, redis } from '@ff/storage/redis'
import { describe, expect, inject, it } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../../server/test/drills/scale.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { newRedisOptions } from '../../../../storage/test/redis-store.ts'
import { pause } from '../server-process.ts'
import {
  createShop,
  evaluateCounter,
  type LiveClient,
  openSocket,
  startInstances,
} from './instances.ts'

const SOCKETS = sized({ full: 100, small: 10 })
const CHANGES = sized({ full: 100, small: 10 })
/** The number of changes if each one takes seconds. */
const SLOW_CHANGES = sized({ full: 10, small: 1 })

interface Given {
  readonly feed: string
  readonly more: Partial<PostgresOptions>
  readonly redis?: RedisOptions
  readonly changes: number
  readonly limitMs: number
}

function overRedis(): Given {
  const more = { listenUrl: false } as const
  return { feed: 'over Redis', more, redis: newRedisOptions(), changes: CHANGES, limitMs: 1000 }
}

describe('a change at one instance over PostgreSQL', { timeout: 300_000 }, () => {
  const given: readonly Given[] = [
    { feed: 'with NOTIFY', more: {}, changes: CHANGES, limitMs: 1000 },
    ...(inject('redisUrl') === '' ? [] : [overRedis()]),
    { feed: 'without NOTIFY', more: { listenUrl: false }, changes: SLOW_CHANGES, limitMs: 10_000 },
  ]

  it.each(given)(
    'A change and a revoked key reach the other instance in time $feed',
    async ({ feed, more, redis: options, changes, limitMs }) => {
      const { url } = await newPostgresSchema()
      const [here, there] = await startInstances(2, { url, ...more }, () => {
        return options === undefined ? {} : redis(options)
      })
      if (here === undefined || there === undefined) throw new Error('Two instances are needed.')
      const [shop, other] = [await createShop(here.management), await createShop(here.management)]
      const clients: LiveClient[] = []
      for (let n = 0; n < SOCKETS; n += 1) clients.push(await openSocket(there.url, shop.sdkKey))
      const refused = await openSocket(there.url, other.sdkKey)
      const { projectId, environmentId, keyId } = other
      await here.management.revokeSdkKey({ params: { projectId, environmentId, keyId } })
      const revokedAt = performance.now()
      const revoked = refused.closed.then((code) => ({
        code,
        afterMs: performance.now() - revokedAt,
      }))
      const isRefused = async () => (await evaluateCounter(here.url, other.sdkKey)).status === 401
      await expect.poll(isRefused).toBe(true)

      const delays: number[] = []
      for (let number = 1; number <= changes; number += 1) {
        await shop.set(here.management, number)
        const acknowledgedAt = performance.now()
        const isMissing = (client: LiveClient) => !client.receivedAt.has(number)
        await expect.poll(() => clients.filter(isMissing).length).toBe(0)
        for (const { receivedAt } of clients) {
          delays.push(Math.max(0, (receivedAt.get(number) ?? 0) - acknowledgedAt))
        }
        expect((await evaluateCounter(there.url, shop.sdkKey)).number).toBe(number)
        await pause(Math.random() * 20)
      }
      const { code, afterMs } = await revoked
      report(
        `A change at one instance, ${SOCKETS} sockets at the other, ${feed}, ${changes} changes: ` +
          `${quantile(delays, 0.5).toFixed(0)} ms (median), ${quantile(delays, 0.99).toFixed(0)} ms ` +
          `(p99); a revoked key is refused after ${afterMs.toFixed(0)} ms`,
      )
      expect(code).toBe(4401)
      expect((await evaluateCounter(there.url, other.sdkKey)).status).toBe(401)
      if (!IS_FULL) return
      expect(quantile(delays, 0.99)).toBeLessThan(limitMs)
      expect(afterMs).toBeLessThan(10_000)
    },
  )
})
