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

/** Sends a poll. `answer` is set when it has received its reply. */
async function openPoll(
  body: unknown,
  key = live.sdkKey,
  { signal, server = flags }: { signal?: AbortSignal; server?: FlagServer } = {},
) {
  // After the key is cached, no step of a poll takes longer than `settle` waits.
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

describe('A poll without since', () => {
  it('A poll without since is pending until the values change, and then receives all values', async () => {
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

  it('A poll stays pending if a change does not affect the values of its context', async () => {
    const [pro, other] = [await openPoll({ context: user }), await openPoll({ context: free })]
    await set('banner', 'hello', [proRule])
    await settle()
    expect(pro.answer?.body).toEqual({ banner: 'other' })
    expect(other.answer).toBeUndefined()
  })

  it('A poll stays pending if another environment changes', async () => {
    const pending = await openPoll({ context: user }, staging.sdkKey)
    await set('banner', 'changed')
    await settle()
    expect(pending.answer).toBeUndefined()
  })

  it('Polls receive the current values after 60 to 61 seconds, at different times', async () => {
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

  it('Many polls with hold times that end at the same time receive their replies in time slices', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0)
    const all = await Promise.all(Array.from({ length: 200 }, () => openPoll({ context: user })))
    random.mockRestore()
    const answered = () => all.filter(({ answer }) => answer !== undefined).length
    await clock.advance(59_999)
    const moved = clock.advance(1)
    while (answered() === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(answered()).toBeLessThan(200)
    await moved
    expect(answered()).toBe(200)
  })

  it('A poll receives its reply after its hold time, even if the system time is changed', async () => {
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

  it('A poll receives a reply when a flag is removed', async () => {
    const pending = await openPoll({ context: user })
    const gone = { kind: 'flag', id: 'flag-banner', definition: null } as const
    await publish(memory, live.environmentId, gone)
    await settle()
    expect(pending.answer).toMatchObject({ status: 200, body: {} })
  })

  it('A poll receives a reply when a gradual rollout reaches its next step', async () => {
    const startAt = new Date(clock.now() + 20_000).toISOString()
    await publish(memory, live.environmentId, flagChange(rampFlag('ramp', startAt, 100)))
    const pending = await openPoll({ context: user })
    await clock.advance(19_999)
    expect(pending.answer).toBeUndefined()
    await clock.advance(1)
    expect(pending.answer?.body).toEqual({ banner: 'hello', ramp: 'other' })
    expect(pending.answer?.headers.get('etag')).toMatch(/^"2\.1-/)
  })

  it('A poll receives a change within ten seconds if its hint was lost', async () => {
    const pending = await openPoll({ context: user })
    feed.lose(true)
    await set('banner', 'changed')
    await clock.advance(9999)
    expect(pending.answer?.body).toEqual({ banner: 'changed' })
  })

  it('Each of 200 pending polls receives a change', async () => {
    const all = await Promise.all(Array.from({ length: 200 }, () => openPoll({ context: user })))
    await set('banner', 'changed')
    await until(() => all.every(({ answer }) => answer !== undefined))
    for (const { answer } of all) expect(answer?.body).toEqual({ banner: 'changed' })
  })
})

describe('A poll with since', () => {
  it('A poll with the current tag is pending until the values change', async () => {
    const pending = await openPoll({ context: user, since: await tagNow() })
    await clock.advance(1000)
    expect(pending.answer).toBeUndefined()
    await set('banner', 'changed')
    await settle()
    expect(pending.answer?.body).toEqual({ banner: 'changed' })
  })

  it('A poll with the current tag is pending if a proxy has appended a suffix to the tag', async () => {
    const tag = await tagNow()
    const pending = await openPoll({ context: user, since: `W/${tag.slice(0, -1)}-gzip"` })
    expect(pending.answer).toBeUndefined()
    await set('banner', 'changed')
    await settle()
    expect(pending.answer?.body).toEqual({ banner: 'changed' })
  })

  it('A poll with an older tag receives an immediate reply if the values have changed', async () => {
    const since = await tagNow()
    await set('banner', 'changed')
    const pending = await openPoll({ context: user, since })
    expect((await pending.done).body).toEqual({ banner: 'changed' })
  })

  it('A poll with an older tag is pending if the newer version has the same values', async () => {
    const since = await tagNow(free)
    await set('banner', 'hello', [proRule])
    const pending = await openPoll({ context: free, since })
    expect(pending.answer).toBeUndefined()
    await set('banner', 'changed')
    await settle()
    expect(pending.answer?.body).toEqual({ banner: 'changed' })
  })

  it('A poll is pending if its tag has the same values, an older version and more steps', async () => {
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
    'A poll receives an immediate reply if since is %j, which is not a current tag',
    async (since) => {
      const pending = await openPoll({ context: user, since })
      expect((await pending.done).status).toBe(200)
    },
  )

  it('A poll with the tag of another environment with other values receives an immediate reply', async () => {
    await publish(
      { storage: memory.storage, changeFeed: feed.changeFeed },
      staging.environmentId,
      flagChange(textFlag('banner', 'staging')),
    )
    const tag = (await evaluate(flags, staging.sdkKey, user)).headers.get('etag')
    const pending = await openPoll({ context: user, since: tag })
    expect((await pending.done).body).toEqual({ banner: 'hello' })
  })

  it('A poll with the tag of another context with other values receives an immediate reply', async () => {
    await set('banner', 'hello', [proRule])
    const pending = await openPoll({ context: user, since: await tagNow(free) })
    expect((await pending.done).body).toEqual({ banner: 'other' })
  })

  it('A poll with the tag of a newer version than the loaded one loads the newer version first', async () => {
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

  it('A poll with the tag of a newer version receives 500, not older values, if that version cannot be loaded', async () => {
    await evaluate(flags, live.sdkKey, user)
    feed.lose(true)
    await set('banner', 'changed')
    store.break()
    const since = `"2.0-${'0'.repeat(32)}-${'0'.repeat(32)}"`
    const pending = await openPoll({ context: user, since })
    expect(await pending.done).toMatchObject({ status: 500, body: { statusCode: 500 } })
  })

  it('A poll with an older tag does not load the older version', async () => {
    const since = await tagNow()
    await set('banner', 'changed')
    store.calls.length = 0
    await openPoll({ context: user, since })
    expect(store.calls).toEqual([])
  })
})

/** Creates a poll in platform-neutral form. */
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

describe('A poll in platform-neutral form', () => {
  it('A poll returns a promise that resolves once after two changes, and counts as one request', async () => {
    flags = createFlagServer({ ...memory, clock, metricsArePublic: true })
    await evaluate(flags, live.sdkKey, user)
    const reply = flags.handle(pollExchange())
    let isSettled = false
    void Promise.resolve(reply).then(() => {
      isSettled = true
    })
    await settle()
    expect(isSettled).toBe(false)
    // No delivery can begin between the two changes.
    await Promise.all([set('banner', 'changed'), set('banner', 'again')])
    const { status, headers, body } = await reply
    expect({ status, headers, body }).toMatchObject({
      ...{ status: 200, headers: { 'X-RateLimit-Limit': '6000' } },
      body: new TextEncoder().encode('{"banner":"again"}'),
    })
    expect((await reply).body, 'The bytes are freed after they were read').toBeNull()
    const metrics = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
    expect(metrics).toMatch(/^ff_requests_total\{family="poll",status="200"\} 1$/m)
  })

  it('A poll is also pending if a flag set must be loaded first', async () => {
    flags = createFlagServer({ ...memory, clock })
    const reply = flags.handle(pollExchange())
    expect(reply).toBeInstanceOf(Promise)
    await settle()
    await set('banner', 'changed')
    expect(await reply).toMatchObject({ status: 200 })
  })
})

describe('A pending poll', () => {
  it('A pending poll releases its place when the client disconnects', async () => {
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

  it('A pending poll receives 401 when its key is revoked, and polls of other keys stay pending', async () => {
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

  it('A pending poll receives 401 within ten seconds after its key has expired', async () => {
    const expiresAt = new Date(clock.now() + 10_000).toISOString()
    const { sdkKey } = await addSdkKey(memory.storage, live, { expiresAt })
    const pending = await openPoll({ context: user }, sdkKey)
    await clock.advance(9999)
    expect(pending.answer).toBeUndefined()
    await clock.advance(10_000)
    expect(pending.answer?.status).toBe(401)
  })

  it('Pending polls receive the current values when the server closes', async () => {
    const all = await Promise.all(Array.from({ length: 100 }, () => openPoll({ context: user })))
    await flags.close()
    for (const { answer } of all)
      expect(answer).toMatchObject({ status: 200, body: { banner: 'hello' } })
    expect(clock.timers).toBe(0)
    expect((await poll(flags, live.sdkKey, { context: user })).status).toBe(500)
  })
})
