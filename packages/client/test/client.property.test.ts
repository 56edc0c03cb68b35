import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { runs } from '../../../scripts/test-selection.ts'
import { backoffMs } from '../src/connection/backoff.ts'
import { memoryCache } from '../src/index.ts'
import { FakeServer } from './fake-server.ts'
import { FakeTime, seededRandom } from './fake-time.ts'
import { countedClock, createScene } from './scene.ts'

const step = fc.oneof(
  fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 200_000 }) }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 30 }) }),
  fc.record({ type: fc.constant('context' as const), key: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant('reset' as const), key: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant('page' as const), hidden: fc.boolean(), offline: fc.boolean() }),
  fc.record({
    type: fc.constant('server' as const),
    state: fc.constantFrom('up', 'down', 'blackhole'),
  }),
  fc.record({
    type: fc.constant('drop' as const),
    code: fc.constantFrom(1001, 1006, 4401, 4400, 1013),
  }),
  fc.record({ type: fc.constant('sockets' as const), has: fc.boolean() }),
  fc.record({
    type: fc.constant('status' as const),
    status: fc.constantFrom(0, 401, 400, 429, 502),
  }),
  fc.record({ type: fc.constant('publish' as const) }),
  fc.record({ type: fc.constant('junk' as const), message: fc.json() }),
  fc.record({ type: fc.constant('freeze' as const), on: fc.boolean() }),
)

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never
type Scene = ReturnType<typeof createScene>

async function run({ client, server, page, time }: Scene, each: Step): Promise<void> {
  switch (each.type) {
    case 'wait':
      return time.advance(each.ms)
    case 'context':
      return void client.setContext({ kind: 'user', key: `u${each.key}` })
    case 'reset':
      return void client.reset({ kind: 'user', key: `u${each.key}` })
    case 'page':
      return page.set(each)
    case 'server':
      server.state = each.state as 'up'
      return
    case 'drop':
      return server.drop(each.code)
    case 'sockets':
      server.hasSockets = each.has
      return
    case 'status':
      server.script = () => (each.status === 0 ? undefined : { status: each.status })
      return
    case 'publish':
      return server.publish({ limit: server.version })
    case 'junk':
      for (const socket of server.sockets) socket.emit(each.message)
      return
    case 'freeze':
      return each.on ? client.freeze() : client.unfreeze()
  }
}

describe('a client', () => {
  it('A client has at most one socket, one request and one timer, never goes back, and leaves nothing.', async () => {
    const steps = fc.array(step, { maxLength: 40 })
    const transport = fc.constantFrom('auto', 'socket', 'long-poll', 'request' as const)
    await fc.assert(
      fc.asyncProperty(steps, transport, fc.integer(), async (all, chosen, seed) => {
        const cache = memoryCache()
        const random = seededRandom(seed)
        const scene = createScene({ transport: chosen as 'auto', cache, random })
        const { client, server, time } = scene
        let version = 0
        let limit = -1
        for (const each of all) {
          await run(scene, each)
          if (each.type === 'reset') version = limit = -1
          expect(client.status.version).toBeGreaterThanOrEqual(version)
          expect(client.value('limit')).toBeGreaterThanOrEqual(limit)
          version = client.status.version
          limit = client.value('limit')
          expect(server.maxOfOneKind).toBeLessThanOrEqual(1)
          // Only a client without values has a request beside its socket.
          expect(server.maxOpen).toBeLessThanOrEqual(chosen === 'auto' ? 2 : 1)
          expect(scene.maxTimers).toBeLessThanOrEqual(1)
        }
        // Whatever happened, the client recovers.
        Object.assign(server, { state: 'up', hasSockets: true, script: () => undefined })
        scene.page.set({ hidden: false, offline: false })
        client.unfreeze()
        void client.setContext({ kind: 'user', key: 'end' })
        await time.advance(700_000)
        expect(client.value('whoami')).toBe('end')
        expect(client.status).toMatchObject({ isCurrent: true, version: server.version })
        client.close()
        const attempts = server.attempts.length
        expect([scene.timers, server.open]).toEqual([0, 0])
        await time.advance(700_000)
        expect(server.attempts).toHaveLength(attempts)
      }),
      { numRuns: runs(300) },
    )
  })

  it('A client survives any message, and uses only messages of the right shape.', async () => {
    const shape = fc.record(
      {
        type: fc.constantFrom('flags', 'error', 'pong', 'flagSet', 7),
        flags: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
        version: fc.oneof(fc.integer({ min: -2, max: 9 }), fc.jsonValue()),
        full: fc.oneof(fc.boolean(), fc.jsonValue()),
        removed: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
        id: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.jsonValue()),
        statusCode: fc.jsonValue(),
        retryAfter: fc.oneof(fc.integer({ max: 9 }), fc.jsonValue()),
      },
      { requiredKeys: ['type'] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(shape, { maxLength: 20 }), async (messages) => {
        const { client, server, time } = createScene()
        await time.advance(100)
        for (const message of messages) {
          for (const socket of server.sockets) socket.emit(message)
          expect(['light', 'dark', 'red']).toContain(client.value('theme'))
          expect(typeof client.value('new-checkout')).toBe('boolean')
          await time.advance(1)
        }
        server.drop()
        client.close()
        expect(server.open).toBe(0)
      }),
      { numRuns: runs(500) },
    )
  })
})

const figures: string[] = []

afterAll(() => {
  process.stdout.write(`${figures.join('\n')}\n`)
})

describe('the backoff', () => {
  it('A delay is never 0, at most 30 seconds and 50 milliseconds, and grows with failures.', () => {
    const times = fc.double({ min: 0, noNaN: true })
    const fractions = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.nat(2000), times, fractions, (count, outageMs, fraction) => {
        const delay = backoffMs(count, outageMs, () => fraction)
        expect(delay).toBeGreaterThanOrEqual(50)
        expect(delay).toBeLessThanOrEqual(30_050)
        const next = backoffMs(count + 1, outageMs, () => fraction)
        expect(next).toBeGreaterThanOrEqual(delay)
      }),
      { numRuns: runs(100) },
    )
  })

  it.each(['auto', 'socket', 'long-poll', 'request'] as const)(
    '200 clients over %s that are dropped together come back spread over time.',
    async (transport) => {
      const time = new FakeTime()
      const scene = createScene()
      scene.client.close()
      const random = seededRandom(42)
      const all = Array.from({ length: 200 }, () => {
        const server = new FakeServer(time)
        const { fetch, webSocket } = server
        const clock = countedClock(time)
        const client = scene.another({ transport, random, fetch, webSocket, clock })
        return { server, client, clock, before: 0 }
      })
      await time.advance(90_000)
      const dropAt = time.monotonicNow()
      for (const each of all) {
        each.before = each.server.attempts.length
        each.server.stop()
      }
      await time.advance(60_000)
      const retries = all.map(({ server, before }) => server.attempts.slice(before))
      const total = retries.reduce((sum, { length }) => sum + length, 0)
      expect(total / 200 / 60).toBeLessThanOrEqual(0.2)
      const first = retries.map(([attempt]) => (attempt?.at ?? 0) - dropAt)
      expect(fullest(first, 250)).toBeLessThan(0.35 * 200)
      await time.advance(240_000)
      // The tenth retry of each client is at the cap of the backoff.
      const capped = all.map(({ server, before }) => server.attempts[before + 9]?.at ?? 0)
      expect(Math.min(...capped)).toBeGreaterThan(0)
      expect(fullest(capped, 1000)).toBeLessThan(0.1 * 200)
      figures.push(
        `${transport}: ${fullest(first, 250) / 2} % in 250 ms, ${fullest(capped, 1000) / 2} % in 1 s, ` +
          `${(total / 200 / 60).toFixed(3)} attempts per client and second`,
      )
      for (const { server } of all) server.state = 'up'
      await time.advance(65_000)
      expect(all.filter(({ client }) => client.status.isCurrent)).toHaveLength(200)
      for (const { client } of all) client.close()
      expect(all.filter(({ clock }) => clock.timers > 0)).toEqual([])
    },
    60_000,
  )
})

/** Returns the greatest number of times in a bucket. */
function fullest(times: readonly number[], bucketMs: number): number {
  const buckets = new Map<number, number>()
  for (const at of times) {
    const bucket = Math.floor(at / bucketMs)
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1)
  }
  return Math.max(0, ...buckets.values())
}
