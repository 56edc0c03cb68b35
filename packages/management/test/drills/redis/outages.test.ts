import { redis } from '@ff/storage/redis'
import { describe, expect, inject, it } from 'vitest'
import { IS_FULL, quantile, report, sized } from '../../../../server/test/drills/scale.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import type { RedisProcess } from '../../../../storage/test/redis-process.ts'
import { openRedisClient, startRedis } from '../../../../storage/test/redis-store.ts'
import { timed } from '../durations.ts'
import {
  createShop,
  evaluateCounter,
  type LiveClient,
  openSocket,
  type RunningInstance,
  startInstances,
} from '../postgres/instances.ts'
import { pause } from '../server-process.ts'

const ROUNDS = sized({ full: 3, small: 1 })
/** The time for which Redis stays away after the change has arrived. */
const AWAY_MS = sized({ full: 10_000, small: 0 })
const SENDERS = sized({ full: 8, small: 1 })
/** Half of this limit is enough for one instance that counts alone. */
const RATE_LIMIT = sized({ full: 400_000, small: 40_000 })
const ARRIVES_WITHIN_MS = 10_000
const WRITES_WITHIN_MS = 2000

interface Fault {
  readonly name: string
  readonly begin: (server: RedisProcess) => Promise<unknown>
  readonly end: (server: RedisProcess) => Promise<unknown>
}

const FAULTS: readonly Fault[] = [
  { name: 'stopped', begin: (server) => server.stop(), end: (server) => server.restart() },
  {
    name: 'suspended',
    begin: async (server) => server.suspend(),
    end: async (server) => server.resume(),
  },
  {
    name: 'flushed',
    begin: ({ url }) => openRedisClient(url).flushall(),
    end: async () => undefined,
  },
]

/** Evaluates the flag at all instances until `end`, which returns the number and the slowest time. */
function evaluateAt(instances: readonly RunningInstance[], sdkKey: string) {
  let hasEnded = false
  const times: number[] = []
  const statuses = new Set<number>()
  const send = async ({ url }: RunningInstance) => {
    for (; !hasEnded; await pause(5)) {
      const { result, ms } = await timed(() => evaluateCounter(url, sdkKey))
      statuses.add(result.status)
      times.push(ms)
    }
  }
  const senders = instances.flatMap((each) => Array.from({ length: SENDERS }, () => send(each)))
  const end = async () => {
    hasEnded = true
    await Promise.all(senders)
    expect([...statuses], 'the statuses of evaluations').toEqual([200])
    return { count: times.length, p99: quantile(times, 0.99), slowest: Math.max(...times) }
  }
  return { end }
}

describe.skipIf(!inject('hasRedisServer'))('a Redis server that fails under load', () => {
  it.each(FAULTS)(
    'While Redis is $name, no evaluation fails, and a change reaches every instance in time',
    {
      timeout: 60_000 + ROUNDS * 60_000,
    },
    async ({ name, begin, end }) => {
      const [{ url }, server] = [await newPostgresSchema(), await startRedis()]
      const instances = await startInstances(2, { url, listenUrl: false }, () => {
        return redis({ url: server.url })
      })
      const [here] = instances
      if (here === undefined) throw new Error('There is no instance.')
      const shop = await createShop(here.management, { rateLimit: RATE_LIMIT })
      const clients: LiveClient[] = []
      for (const each of instances) clients.push(await openSocket(each.url, shop.sdkKey))
      const [arrivals, writes]: [number[], number[]] = [[], []]
      let number = 0
      const change = async () => {
        number += 1
        const startedAt = performance.now()
        await shop.set(here.management, number)
        writes.push(performance.now() - startedAt)
        const isMissing = ({ receivedAt }: LiveClient) => !receivedAt.has(number)
        await expect.poll(() => clients.filter(isMissing).length).toBe(0)
        arrivals.push(performance.now() - startedAt)
      }
      const evaluations = evaluateAt(instances, shop.sdkKey)
      for (let round = 0; round < ROUNDS; round += 1) {
        await pause(Math.random() * 200)
        await begin(server)
        await change()
        await pause(AWAY_MS)
        await end(server)
        await change()
      }
      const { count, p99, slowest } = await evaluations.end()
      report(
        `Redis ${name} ${ROUNDS} times: ${count} evaluations, 0 failed, ${p99.toFixed(0)} ms (p99), ` +
          `${slowest.toFixed(0)} ms (slowest); a change reached both instances after at most ` +
          `${Math.max(...arrivals).toFixed(0)} ms, and was acknowledged after at most ` +
          `${Math.max(...writes).toFixed(0)} ms`,
      )
      expect(arrivals).toHaveLength(2 * ROUNDS)
      if (!IS_FULL) return
      expect(Math.max(...arrivals)).toBeLessThan(ARRIVES_WITHIN_MS)
      expect(Math.max(...writes)).toBeLessThan(WRITES_WITHIN_MS)
    },
  )
})
