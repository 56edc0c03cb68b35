import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { type Called, evaluate, poll } from '../call.ts'
import { allInMemory, breakable, losable } from '../capabilities.ts'
import { FakeClock, settle, until } from '../fake-clock.ts'
import {
  addSdkKey,
  flagChange,
  publish,
  rampFlag,
  type SeededEnvironment,
  seed,
  textFlag,
} from '../seed.ts'

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let feed: ReturnType<typeof losable>
let flags: FlagServer
let live: SeededEnvironment
let staging: SeededEnvironment

const user = { kind: 'user', key: 'user-1', plan: 'pro' }
const free = { kind: 'user', key: 'user-2', plan: 'free' }
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  store = breakable(memory.storage)
  feed = losable(memory.changeFeed)
  ;({ live, staging } = await seed(memory.storage))
  await set('banner', 'hello')
  flags = createFlagServer({
    ...memory,
    storage: store.storage,
    changeFeed: feed.changeFeed,
    clock,
  })
  await flags.start()
  return () => flags.close()
})

const set = (key: string, value: string, rules: Parameters<typeof textFlag>[2] = []) =>
  publish(
    { storage: memory.storage, changeFeed: feed.changeFeed },
    live.environmentId,
    flagChange(textFlag(key, value, rules)),
  )

/** A poll that was sent, and whether it is answered yet. */
async function openPoll(
  body: unknown,
  key = live.sdkKey,
  { signal, server = flags }: { signal?: AbortSignal; server?: FlagServer } = {},
) {
  // Once the key is known, nothing on a poll's way takes longer than `settle` waits.
  await evaluate(server, key, {})
  const pending: { answer: Called | undefined; done: Promise<Called> } = {
    answer: undefined,
    done: poll(server, key, body, signal),
  }
  void pending.done.then(
    (answer) => {
      pending.answer = answer
    },
    () => undefined,
  )
  await settle()
  return pending
}

const tagNow = async (context: unknown = user) =>
  (await evaluate(flags, live.sdkKey, context)).headers.get('etag') ?? ''

describe('a poll without since', () => {
  it('is held until the values change, then answers all of them', async () => {
    const pending = await openPoll({ context: user })
    await clock.advance(30_000)
    expect(pending.answer).toBeUndefined()
    await set('extra', 'new')
    await settle()
    expect(pending.answer).toMatchObject({ status: 200, body: { banner: 'hello', extra: 'new' } })
    expect(pending.answer?.headers.get('x-ff-version')).toBe('2')
    expect(pending.answer?.headers.get('etag')).toBe(await tagNow())
    expect(pending.answer?.headers.get('x-ratelimit-limit')).toBe('6000')
  })

  it('is not woken by a change that leaves the values of its own context as they are', async () => {
    const [pro, other] = [await openPoll({ context: user }), await openPoll({ context: free })]
    await set('banner', 'hello', [proRule])
    await settle()
    expect(pro.answer?.body).toEqual({ banner: 'other' })
    expect(other.answer).toBeUndefined()
  })

  it('is not woken by another environment', async () => {
    const pending = await openPoll({ context: user }, staging.sdkKey)
    await set('banner', 'changed')
    await settle()
    expect(pending.answer).toBeUndefined()
  })

  it('is answered with the present values after 60 to 61 seconds, spread', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => openPoll({ context: user })))
    await clock.advance(59_999)
    expect(all.filter(({ answer }) => answer !== undefined)).toHaveLength(0)
    await clock.advance(501)
    const half = all.filter(({ answer }) => answer !== undefined).length
    expect(half).toBeGreaterThan(0)
    expect(half).toBeLessThan(20)
    await clock.advance(501)
    for (const { answer } of all) {
      expect(answer).toMatchObject({ status: 200, body: { banner: 'hello' } })
    }
  })

  it('is answered in time slices if the hold times of many polls end together', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0)
    const all = await Promise.all(Array.from({ length: 200 }, () => openPoll({ context: user })))
    random.mockRestore()
    const answered = () => all.filter(({ answer }) => answer !== undefined).length
    const moved = clock.advance(60_000)
    while (answered() === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(answered()).toBeLessThan(200)
    await moved
    expect(answered()).toBe(200)
  })

  it('is answered after its hold time, also if the time of day is set back or forward', async () => {
    let shiftMs = 0
    const shifted = createFlagServer({
      ...memory,
      clock: {
        now: () => clock.now() + shiftMs,
        monotonicNow: () => clock.monotonicNow(),
        schedule: (delayMs, task) => clock.schedule(delayMs, task),
      },
    })
    for (const shift of [-3_600_000, 3_600_000]) {
      shiftMs = 0
      const pending = await openPoll({ context: user }, live.sdkKey, { server: shifted })
      shiftMs = shift
      await clock.advance(59_999)
      expect(pending.answer).toBeUndefined()
      await clock.advance(1001)
      expect(pending.answer).toMatchObject({ status: 200, body: { banner: 'hello' } })
    }
    await shifted.close()
  })

  it('hears when a flag is removed', async () => {
    const pending = await openPoll({ context: user })
    const gone = { kind: 'flag', id: 'flag-banner', definition: null } as const
    await publish(memory, live.environmentId, gone)
    await settle()
    expect(pending.answer).toMatchObject({ status: 200, body: {} })
  })

  it('hears when a gradual rollout steps', async () => {
    const startAt = new Date(clock.now() + 20_000).toISOString()
    await publish(memory, live.environmentId, flagChange(rampFlag('ramp', startAt, 100)))
    const pending = await openPoll({ context: user })
    await clock.advance(19_999)
    expect(pending.answer).toBeUndefined()
    await clock.advance(1)
    expect(pending.answer?.body).toEqual({ banner: 'hello', ramp: 'other' })
    expect(pending.answer?.headers.get('etag')).toMatch(/^"2\.1-/)
  })

  it('hears within ten seconds of a change whose hint was lost', async () => {
    const pending = await openPoll({ context: user })
    feed.lose(true)
    await set('banner', 'changed')
    await clock.advance(9999)
    expect(pending.answer?.body).toEqual({ banner: 'changed' })
  })

  it('wakes 200 of 200', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => openPoll({ context: user })))
    await set('banner', 'changed')
    await until(() => all.every(({ answer }) => answer !== undefined))
    for (const { answer } of all) expect(answer?.body).toEqual({ banner: 'changed' })
  })
})

describe('a poll with since', () => {
  it('is held while version and step are the same, and answered when the values change', async () => {
    const pending = await openPoll({ context: user, since: await tagNow() })
    await clock.advance(1000)
    expect(pending.answer).toBeUndefined()
    await set('banner', 'changed')
    await settle()
    expect(pending.answer?.body).toEqual({ banner: 'changed' })
  })

  it('is answered at once when the values have changed since', async () => {
    const since = await tagNow()
    await set('banner', 'changed')
    const pending = await openPoll({ context: user, since })
    expect((await pending.done).body).toEqual({ banner: 'changed' })
  })

  it('is held when a newer version has the same values', async () => {
    const since = await tagNow(free)
    await set('banner', 'hello', [proRule])
    const pending = await openPoll({ context: free, since })
    expect(pending.answer).toBeUndefined()
    await set('banner', 'changed')
    await settle()
    expect(pending.answer?.body).toEqual({ banner: 'changed' })
  })

  it('is held when the tag of a version with more steps has the same values', async () => {
    await publish(
      memory,
      live.environmentId,
      flagChange(rampFlag('ramp', '2029-12-31T00:00:00Z', 1)),
    )
    await publish(memory, live.environmentId, { kind: 'flag', id: 'flag-ramp', definition: null })
    await set('extra', 'a', [proRule])
    const since = await tagNow(free)
    const pending = await openPoll({ context: free, since: since.replace(/^"\d+\.\d+/, '"2.24') })
    expect(pending.answer).toBeUndefined()
  })

  it.each(['', 'x', '"1.0-a-b"', '*', 7, {}, `"999.0-${'0'.repeat(32)}-${'0'.repeat(32)}"`])(
    'is answered at once when since is %j, which nobody recognises',
    async (since) => {
      const pending = await openPoll({ context: user, since })
      expect((await pending.done).status).toBe(200)
    },
  )

  it('is answered at once when the tag is of another environment with other values', async () => {
    await publish(
      { storage: memory.storage, changeFeed: feed.changeFeed },
      staging.environmentId,
      flagChange(textFlag('banner', 'staging')),
    )
    const tag = (await evaluate(flags, staging.sdkKey, user)).headers.get('etag')
    const pending = await openPoll({ context: user, since: tag })
    expect((await pending.done).body).toEqual({ banner: 'hello' })
  })

  it('is answered at once when the tag is of another context with other values', async () => {
    await set('banner', 'hello', [proRule])
    const pending = await openPoll({ context: user, since: await tagNow(free) })
    expect((await pending.done).body).toEqual({ banner: 'other' })
  })

  it('refreshes first when since is newer than this instance, and never answers older', async () => {
    await evaluate(flags, live.sdkKey, user)
    feed.lose(true)
    await set('banner', 'changed')
    const other = createFlagServer({ ...memory, clock })
    const newer = (await evaluate(other, live.sdkKey, user)).headers.get('etag')
    expect(newer).toMatch(/^"2\./)
    const pending = await openPoll({ context: user, since: newer })
    expect(pending.answer).toBeUndefined()
    await set('banner', 'again')
    await clock.advance(5000)
    expect(pending.answer?.body).toEqual({ banner: 'again' })
  })

  it('answers 500 rather than older values when the newer ones cannot be had', async () => {
    await evaluate(flags, live.sdkKey, user)
    feed.lose(true)
    await set('banner', 'changed')
    store.break()
    const since = `"2.0-${'0'.repeat(32)}-${'0'.repeat(32)}"`
    const pending = await openPoll({ context: user, since })
    expect(await pending.done).toMatchObject({ status: 500, body: { statusCode: 500 } })
  })

  it('loads no past version', async () => {
    const since = await tagNow()
    await set('banner', 'changed')
    store.calls.length = 0
    await openPoll({ context: user, since })
    expect(store.calls).toEqual([])
  })
})

/** A poll in the neutral form. */
function pollExchange(): Exchange {
  return {
    ...{ method: 'POST', path: '/evaluator/poll', query: '', hasBody: true },
    ...{ address: undefined, isEncrypted: false },
    header: (name) => (name === 'x-api-key' ? live.sdkKey : undefined),
    json: () => ({ bytes: undefined, parse: () => ({ context: user }) }),
    bytes: async () => new Uint8Array(),
    onClosed: () => undefined,
  }
}

describe('a poll in the neutral form', () => {
  it('is a promise of its reply, settled once by two changes, and is counted as one request', async () => {
    flags = createFlagServer({ ...memory, clock, metricsArePublic: true })
    await evaluate(flags, live.sdkKey, user)
    const reply = flags.handle(pollExchange())
    let isSettled = false
    void Promise.resolve(reply).then(() => {
      isSettled = true
    })
    await settle()
    expect(isSettled).toBe(false)
    await set('banner', 'changed')
    await set('banner', 'again')
    const { status, headers, body } = await reply
    expect({ status, headers, body }).toMatchObject({
      ...{ status: 200, headers: { 'X-RateLimit-Limit': '6000' } },
      body: new TextEncoder().encode('{"banner":"again"}'),
    })
    expect((await reply).body, 'the bytes are freed once they are read').toBeNull()
    const metrics = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
    expect(metrics).toMatch(/^ff_requests_total\{family="poll",status="200"\} 1$/m)
  })

  it('is pending, too, when something has to be loaded first', async () => {
    flags = createFlagServer({ ...memory, clock })
    const reply = flags.handle(pollExchange())
    expect(reply).toBeInstanceOf(Promise)
    await settle()
    await set('banner', 'changed')
    expect(await reply).toMatchObject({ status: 200 })
  })
})

describe('a pending poll', () => {
  it('frees its place when the caller goes away', async () => {
    flags = createFlagServer({ ...memory, clock, maxLiveClients: 1 })
    const leaver = new AbortController()
    const pending = await openPoll({ context: user }, live.sdkKey, leaver)
    const refused = await poll(flags, live.sdkKey, { context: user })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([
      429,
      expect.stringMatching(/^[1-9]\d?$/),
    ])
    const timers = clock.timers
    leaver.abort()
    await pending.done.catch(() => undefined)
    expect(clock.timers).toBe(timers - 1)
    const next = await openPoll({ context: user })
    expect(next.answer).toBeUndefined()
  })

  it('is answered 401 when its key is revoked, alone', async () => {
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    const [revoked, other] = [
      await openPoll({ context: user }, sdkKey),
      await openPoll({ context: user }),
    ]
    await memory.storage.update('sdkKey', id, { revokedAt: new Date(clock.now()).toISOString() })
    await feed.changeFeed.publish({ type: 'sdkKeys' })
    await settle()
    expect(revoked.answer).toMatchObject({ status: 401, body: { statusCode: 401 } })
    expect(revoked.answer?.headers.get('x-ratelimit-limit')).toBe('6000')
    expect(other.answer).toBeUndefined()
  })

  it('is answered 401 within ten seconds of the instant at which its key expires', async () => {
    const expiresAt = new Date(clock.now() + 10_000).toISOString()
    const { sdkKey } = await addSdkKey(memory.storage, live, { expiresAt })
    const pending = await openPoll({ context: user }, sdkKey)
    await clock.advance(9999)
    expect(pending.answer).toBeUndefined()
    await clock.advance(10_000)
    expect(pending.answer?.status).toBe(401)
  })

  it('is answered with the present values when the server closes', async () => {
    const all = await Promise.all(Array.from({ length: 100 }, () => openPoll({ context: user })))
    await flags.close()
    for (const { answer } of all)
      expect(answer).toMatchObject({ status: 200, body: { banner: 'hello' } })
    expect(clock.timers).toBe(0)
    expect((await poll(flags, live.sdkKey, { context: user })).status).toBe(500)
  })
})
