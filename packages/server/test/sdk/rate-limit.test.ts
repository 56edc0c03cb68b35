import type { RateLimiter } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { FlagServerOptions } from '../../src/options.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { type Called, call, evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import { addSdkKey, type SeededEnvironment, seed } from '../seed.ts'

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
const servers: FlagServer[] = []

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  return async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()))
  }
})

function serve(options: FlagServerOptions = {}): FlagServer {
  const server = createFlagServer({ ...memory, clock, ...options })
  servers.push(server)
  return server
}

const keyWithLimit = async (rateLimit: number) =>
  (await addSdkKey(memory.storage, live, { rateLimit })).sdkKey

const many = (flags: FlagServer, key: string, count: number): Promise<Called[]> =>
  Promise.all(Array.from({ length: count }, () => evaluate(flags, key, {})))

const passed = (answers: readonly Called[]) => answers.filter(({ status }) => status === 200).length

const limitsOf = ({ headers }: Called) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)))

describe('The rate limit of an SDK key', () => {
  it('The default rate limit is 6000 requests a minute, and every reply has rate-limit headers', async () => {
    const flags = serve()
    const reset = clock.now() / 1000 + 60
    expect(limitsOf(await evaluate(flags, live.sdkKey, {}))).toEqual([6000, 5999, reset])
    await clock.advance(59_000)
    expect(limitsOf(await evaluate(flags, live.sdkKey, {}))).toEqual([6000, 5998, reset])
    const bad = await call(flags, '/evaluator/evaluate', { key: live.sdkKey, body: '{' })
    expect([bad.status, ...limitsOf(bad)]).toEqual([400, 6000, 5997, reset])
    await clock.advance(1000)
    expect(limitsOf(await evaluate(flags, live.sdkKey, {}))).toEqual([6000, 5999, reset + 60])
  })

  it.each([1, 5, 99, 100, 101, 250, 299])(
    'A rate limit of %i grants exactly this number of requests',
    async (limit) => {
      const flags = serve()
      const key = await keyWithLimit(limit)
      const answers: Called[] = []
      while (answers.length < limit + 40) answers.push(...(await many(flags, key, 16)))
      expect(passed(answers)).toBe(limit)
      for (const answer of answers) {
        const [limitHeader, remaining] = limitsOf(answer)
        expect(limitHeader).toBe(limit)
        expect(remaining).toBeGreaterThanOrEqual(0)
        expect([200, 429]).toContain(answer.status)
        if (answer.status === 429) expect(remaining).toBe(0)
      }
      const remainders = answers
        .filter(({ status }) => status === 200)
        .map((answer) => limitsOf(answer)[1])
      const descending = remainders.sort((a = 0, b = 0) => b - a)
      expect(descending).toEqual(Array.from({ length: limit }, (_, index) => limit - 1 - index))
    },
  )

  it.each([1, -1, 24, -24])(
    'A system clock that is changed by %i hours refuses no client within its limit, and the limit applies afterwards [A10]',
    async (hours) => {
      const flags = serve()
      const key = await keyWithLimit(10)
      expect(passed(await many(flags, key, 12))).toBe(10)
      clock.set(clock.now() + hours * 3_600_000)
      const answers = await many(flags, key, 14)
      expect(passed(answers)).toBe(10)
      for (const answer of answers) {
        const [limit, remaining = -1, reset = 0] = limitsOf(answer)
        expect(limit).toBe(10)
        expect(remaining).toBeGreaterThanOrEqual(0)
        const secondsLeft = reset - clock.now() / 1000
        expect(secondsLeft).toBeGreaterThan(0)
        expect(secondsLeft).toBeLessThanOrEqual(60)
      }
    },
  )

  it('A request beyond the limit receives 429 with Retry-After, and succeeds after the reset [ERR-5]', async () => {
    const flags = serve()
    const key = await keyWithLimit(2)
    await many(flags, key, 2)
    await clock.advance(20_500)
    const refused = await evaluate(flags, key, {})
    expect(refused.status).toBe(429)
    expect(refused.body).toEqual({ error: expect.any(String), statusCode: 429 })
    expect(refused.headers.get('retry-after')).toBe('40')
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    await clock.advance(39_499)
    expect((await evaluate(flags, key, {})).status).toBe(429)
    await clock.advance(1)
    expect((await evaluate(flags, key, {})).status).toBe(200)
  })

  it('A request with a slow evaluation counts once for each started period of 2 ms', async () => {
    let elapsed = 0
    // Every evaluation takes 5 ms.
    const slow = Object.assign(new FakeClock(), { monotonicNow: () => (elapsed += 5) })
    const flags = serve({ clock: slow })
    const key = await keyWithLimit(10)
    const answers = [
      await evaluate(flags, key, {}),
      await evaluate(flags, key, {}),
      await evaluate(flags, key, {}),
      await evaluate(flags, key, {}),
      await evaluate(flags, key, {}),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429])
    expect(answers.map((answer) => limitsOf(answer)[1])).toEqual([9, 6, 3, 0, 0])
    expect(answers[4]?.headers.get('retry-after')).toBe('60')
    await slow.advance(60_000)
    expect(limitsOf(await evaluate(flags, key, {}))[1]).toBe(9)
  })

  it('Slow evaluations count on all servers that share a rate limiter', async () => {
    let elapsed = 0
    const slow = Object.assign(new FakeClock(), { monotonicNow: () => (elapsed += 5) })
    const [one, other] = [serve({ clock: slow }), serve({ clock: slow })]
    const key = await keyWithLimit(100)
    let count = 0
    for (let status = 200; status === 200; count += 1) {
      ;({ status } = await evaluate(count % 2 === 0 ? one : other, key, {}))
    }
    // 33 requests count as three each. One more is granted, for which each server may exceed the
    // limit by two.
    expect(count).toBeGreaterThanOrEqual(34)
    expect(count).toBeLessThanOrEqual(36)
  })

  it('A poll counts as a request when it arrives', async () => {
    const flags = serve()
    const key = await keyWithLimit(2)
    await evaluate(flags, key, {})
    void call(flags, '/evaluator/poll', { key, body: { context: {} } })
    await settle()
    const second = await call(flags, '/evaluator/poll', { key, body: { context: {} } })
    expect(second.status).toBe(429)
  })

  it('The rate limit is checked before the body, and keys do not share it', async () => {
    const flags = serve()
    const key = await keyWithLimit(1)
    const bad = () => call(flags, '/evaluator/evaluate', { key, body: '{' })
    expect((await bad()).status).toBe(400)
    expect((await bad()).status).toBe(429)
    expect((await evaluate(flags, live.sdkKey, {})).status).toBe(200)
  })

  it('The rate limit does not depend on forwarded addresses', async () => {
    const flags = serve()
    const key = await keyWithLimit(1)
    await evaluate(flags, key, {}, { 'x-forwarded-for': '10.0.0.1' })
    expect((await evaluate(flags, key, {}, { 'x-forwarded-for': '10.0.0.2' })).status).toBe(429)
  })

  it('Two servers that share a rate limiter enforce one limit', async () => {
    const [first, second] = [serve(), serve()]
    const key = await keyWithLimit(200)
    const answers = await Promise.all([many(first, key, 150), many(second, key, 150)])
    expect(passed(answers.flat())).toBe(200)
  })

  it.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['does not respond', () => new Promise<number>(() => undefined)],
  ])('The process enforces the rate limit alone if the rate limiter %s', async (_name, lease) => {
    let leases = 0
    const rateLimiter: RateLimiter = {
      lease: () => {
        leases += 1
        return lease()
      },
    }
    const flags = serve({ rateLimiter })
    const key = await keyWithLimit(20)
    const answers = many(flags, key, 30)
    await until(() => leases > 0)
    await clock.advance(250)
    expect(passed(await answers)).toBe(20)
    expect(leases).toBe(1)
    expect((await answers).every(({ status }) => status === 200 || status === 429)).toBe(true)
  })

  it('After a failure, no request waits for the rate limiter, which is called again every five seconds', async () => {
    let leases = 0
    let isSilent = true
    const lease: RateLimiter['lease'] = (...request) => {
      leases += 1
      return isSilent ? new Promise(() => undefined) : memory.rateLimiter.lease(...request)
    }
    const flags = serve({ rateLimiter: { lease } })
    const key = await keyWithLimit(1000)
    const first = many(flags, key, 20)
    await until(() => leases > 0)
    await clock.advance(250)
    expect(passed(await first)).toBe(20)
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      await clock.advance(5000)
      expect(passed(await many(flags, key, 20))).toBe(20)
      expect(passed(await many(flags, key, 20))).toBe(20)
      expect(leases).toBe(attempt)
    }
    isSilent = false
    await clock.advance(5000)
    await many(flags, key, 20)
    expect(leases).toBe(5)
    await many(flags, key, 20)
    expect(leases).toBeGreaterThan(5)
  })

  it('A rate limiter that fails is logged once, and once more when it responds again', async () => {
    const lines: string[] = []
    const log = (line: string) => lines.push(line)
    let isAway = true
    const lease: RateLimiter['lease'] = async (...request) => {
      if (isAway) throw new Error('away')
      return memory.rateLimiter.lease(...request)
    }
    const logger = { ...silentLogger, info: log, error: log }
    const flags = serve({ rateLimiter: { lease }, logger })
    const key = await keyWithLimit(1000)
    for (let n = 0; n < 20; n += 1) {
      await many(flags, key, 20)
      await clock.advance(6000)
    }
    expect(lines).toEqual(['The rate limiter failed; this process counts alone'])
    isAway = false
    await many(flags, key, 20)
    expect(lines.slice(1)).toEqual(['The rate limiter responds again'])
  })

  it('Without the rate limiter, each running instance grants its share of the limit, rounded up', async () => {
    const rateLimiter: RateLimiter = { lease: () => Promise.reject(new Error('away')) }
    const storage = { ...memory.storage, close: async () => undefined }
    const instances = [1, 2, 3].map(() => serve({ rateLimiter, storage }))
    const key = await keyWithLimit(20)
    const grantedBy = async (flags: FlagServer) => passed(await many(flags, key, 30))
    await Promise.all(instances.map((flags) => flags.start()))
    await clock.advance(5000)
    expect(await Promise.all(instances.map(grantedBy))).toEqual([7, 7, 7])
    await instances.pop()?.close()
    await clock.advance(60_000)
    expect(await Promise.all(instances.map(grantedBy))).toEqual([10, 10])
  })

  it('The remaining requests are never negative if the clock is set back or forward', async () => {
    const flags = serve()
    const key = await keyWithLimit(10)
    for (const hours of [0, -1, 1, 24, -24]) {
      clock.set(clock.now() + hours * 3_600_000)
      const answer = await evaluate(flags, key, {})
      expect(answer.status).toBe(200)
      expect(limitsOf(answer)[1]).toBeGreaterThanOrEqual(0)
    }
  })
})
