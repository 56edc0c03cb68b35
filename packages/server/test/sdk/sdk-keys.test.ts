import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { call, evaluate } from '../call.ts'
import { allInMemory, breakable, losable } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import { addSdkKey, type SeededEnvironment, seed } from '../seed.ts'

let clock: FakeClock
let memory: ReturnType<typeof allInMemory>
let store: ReturnType<typeof breakable>
let feed: ReturnType<typeof losable>
let flags: FlagServer
let live: SeededEnvironment

beforeEach(async () => {
  clock = new FakeClock()
  memory = allInMemory()
  store = breakable(memory.storage)
  feed = losable(memory.changeFeed)
  ;({ live } = await seed(memory.storage))
  flags = createFlagServer({
    ...memory,
    storage: store.storage,
    changeFeed: feed.changeFeed,
    clock,
  })
  await flags.start()
  return () => flags.close()
})

const calls = (name: string) => store.calls.filter((each) => each === name).length
const notify = () => feed.changeFeed.publish({ type: 'sdkKeys' }).then(settle)
const statusOf = async (key: string) => (await evaluate(flags, key, {})).status

describe('SDK keys', () => {
  it.each([
    undefined,
    '',
    'ff_',
    'ff_123',
    `ff_${'0'.repeat(64)}`,
    `ff_${'G'.repeat(64)}`,
    `ffat_${'0'.repeat(64)}`,
    `ff_${'0'.repeat(65)}`,
    '__proto__',
    'x'.repeat(10_000),
  ])('The SDK key %j receives 401', async (key) => {
    const answer = await call(flags, '/evaluator/evaluate', {
      body: { context: {} },
      ...(key === undefined ? {} : { key }),
    })
    expect([answer.status, answer.body]).toEqual([
      401,
      { error: expect.any(String), statusCode: 401 },
    ])
    expect(answer.headers.get('www-authenticate')).toBe('ApiKey')
    expect(answer.headers.get('x-ratelimit-limit')).toBeNull()
  })

  it('The store is never queried for a cached key or for a malformed key', async () => {
    await evaluate(flags, live.sdkKey, {})
    store.calls.length = 0
    for (let round = 0; round < 20; round += 1) {
      expect(await statusOf(live.sdkKey)).toBe(200)
      expect(await statusOf('ff_nonsense')).toBe(401)
    }
    expect(store.calls).toEqual([])
  })

  it('The store is queried for unknown keys at most once a second', async () => {
    store.calls.length = 0
    const unknown = Array.from({ length: 50 }, (_, n) => `ff_${String(n).padStart(64, '0')}`)
    expect(new Set(await Promise.all(unknown.map(statusOf)))).toEqual(new Set([401]))
    expect(calls('findVersions')).toBe(1)
    await clock.advance(1000)
    await Promise.all(unknown.map(statusOf))
    expect(calls('findVersions')).toBe(2)
    expect(calls('list sdkKey')).toBe(0)
  })

  it('The keys are read only after a change, and not after the use of a key', async () => {
    await evaluate(flags, live.sdkKey, {})
    store.calls.length = 0
    await clock.advance(60_000)
    await notify()
    expect(calls('update')).toBe(1)
    expect(calls('list sdkKey')).toBe(0)
    await addSdkKey(memory.storage, live)
    await clock.advance(60_000)
    expect(calls('list sdkKey')).toBe(1)
  })

  it('A new key is accepted even if its hint was lost', async () => {
    const { sdkKey } = await addSdkKey(memory.storage, live)
    expect(await statusOf(sdkKey)).toBe(200)
  })

  it('A revoked key is refused after its hint, even if it was used before', async () => {
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    await notify()
    expect(await statusOf(sdkKey)).toBe(200)
    await memory.storage.update('sdkKey', id, { revokedAt: new Date(clock.now()).toISOString() })
    await notify()
    expect(await statusOf(sdkKey)).toBe(401)
    expect(await statusOf(live.sdkKey)).toBe(200)
  })

  it('A revoked key is refused from its hint on, even if the store is slow', async () => {
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    expect(await statusOf(sdkKey)).toBe(200)
    await memory.storage.update('sdkKey', id, { revokedAt: new Date(clock.now()).toISOString() })
    store.hold()
    await feed.changeFeed.publish({ type: 'sdkKeys' })
    const status = statusOf(sdkKey)
    await settle()
    store.release()
    expect(await status).toBe(401)
  })

  it('Requests wait only for a limited time for a store that does not respond', async () => {
    expect(await statusOf(live.sdkKey)).toBe(200)
    store.hold()
    await feed.changeFeed.publish({ type: 'sdkKeys' })
    const status = statusOf(live.sdkKey)
    await clock.advance(250)
    expect(await status).toBe(200)
    store.release()
  })

  it('A deleted key is refused', async () => {
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    expect(await statusOf(sdkKey)).toBe(200)
    await memory.storage.update('sdkKey', id, { deletedAt: new Date(clock.now()).toISOString() })
    await notify()
    expect(await statusOf(sdkKey)).toBe(401)
  })

  it('A revoked key is refused within ten seconds if its hint was lost', async () => {
    const { id, sdkKey } = await addSdkKey(memory.storage, live)
    expect(await statusOf(sdkKey)).toBe(200)
    feed.lose(true)
    await memory.storage.update('sdkKey', id, { revokedAt: new Date(clock.now()).toISOString() })
    await notify()
    expect(await statusOf(sdkKey)).toBe(200)
    await clock.advance(9999)
    expect(await statusOf(sdkKey)).toBe(401)
  })

  it('A key is refused from the time at which it expires', async () => {
    const expiresAt = new Date(clock.now() + 60_000).toISOString()
    const { sdkKey } = await addSdkKey(memory.storage, live, { expiresAt })
    expect(await statusOf(sdkKey)).toBe(200)
    await clock.advance(59_999)
    expect(await statusOf(sdkKey)).toBe(200)
    await clock.advance(1)
    expect(await statusOf(sdkKey)).toBe(401)
  })

  it('Cached keys are accepted while the store is unavailable, and unknown keys receive 500', async () => {
    expect(await statusOf(live.sdkKey)).toBe(200)
    store.break()
    await clock.advance(60_000)
    expect(await statusOf(live.sdkKey)).toBe(200)
    expect(await statusOf(`ff_${'0'.repeat(64)}`)).toBe(500)
    store.repair()
    await clock.advance(5000)
    expect(await statusOf(`ff_${'0'.repeat(64)}`)).toBe(401)
  })

  it('An SDK key is not accepted as a query parameter', async () => {
    const query = `/evaluator/evaluate?x-api-key=${live.sdkKey}&sdkKey=${live.sdkKey}`
    expect((await call(flags, query, { body: { context: {} } })).status).toBe(401)
  })
})
