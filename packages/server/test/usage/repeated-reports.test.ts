import { beforeEach, describe, expect, it } from 'vitest'
import { call } from '../call.ts'
import { addSdkKey } from '../seed.ts'
import { BANNER, countsOf, openScene, type Scene } from './usage-scene.ts'

const HOUR_MS = 3_600_000

let scene: Scene

beforeEach(async () => {
  scene = await openScene()
  return () => scene.flags.close()
})

const addKey = async (rateLimit?: number) => {
  const changes = { kind: 'server', ...(rateLimit && { rateLimit }) } as const
  return (await addSdkKey(scene.memory.storage, scene.live, changes)).sdkKey
}

function event(count: number, flagKey = 'banner') {
  const from = new Date(scene.clock.now()).toISOString()
  return { flag_key: flagKey, variation_key: 'hello', reason: 'DEFAULT', count, from }
}

const report = (key: string, id: unknown, ...events: readonly object[]) =>
  call(scene.flags, '/evaluator/events', { key, body: { id, events } })

/** Returns the number of evaluations that are counted. */
async function counted(): Promise<number> {
  await scene.clock.advance(1000)
  const counts = await countsOf(scene, BANNER)
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

describe('repeated reports', () => {
  it('A repeated report counts once, and all its repetitions receive the same answer.', async () => {
    const key = await addKey()
    const events = [event(3), event(2, 'unknown')]
    for (let times = 0; times < 3; times += 1) {
      const { status, body } = await report(key, 'report', ...events)
      expect([status, body]).toEqual([200, { accepted: 3, ignored: 2 }])
    }
    expect(await counted()).toBe(3)
  })

  it('Simultaneous deliveries of a report count once, even if the flags are not loaded yet.', async () => {
    const key = await addKey()
    const deliveries = Array.from({ length: 10 }, () => report(key, 'report', event(3)))
    const answers = await Promise.all(deliveries)
    expect(answers.map(({ body }) => body)).toEqual(
      answers.map(() => ({ accepted: 3, ignored: 0 })),
    )
    expect(await counted()).toBe(3)
  })

  it('Reports without an id are counted each time, and so are equal reports with other ids.', async () => {
    const key = await addKey()
    for (const id of [undefined, undefined, 'one', 'two']) await report(key, id, event(1))
    expect(await counted()).toBe(4)
  })

  it('Reports of several SDK keys can have the same id.', async () => {
    for (const key of [await addKey(), await addKey()]) await report(key, 'report', event(1))
    expect(await counted()).toBe(2)
  })

  it('A report that is repeated after an hour is counted again.', async () => {
    const key = await addKey()
    await report(key, 'report', event(1))
    scene.clock.set(scene.clock.now() + HOUR_MS - 1)
    await report(key, 'report', event(1))
    scene.clock.set(scene.clock.now() + 1)
    await report(key, 'report', event(1))
    expect(await counted()).toBe(2)
  })

  it('A report that was refused as invalid or beyond the rate limit is counted when it is repeated.', async () => {
    const key = await addKey(2)
    expect((await report(key, 'first', event(0))).status).toBe(400)
    expect((await report(key, 'first', event(1))).status).toBe(200)
    expect((await report(key, 'second', event(1))).status).toBe(429)
    await scene.clock.advance(60_000)
    expect((await report(key, 'second', event(1))).status).toBe(200)
    expect(await counted()).toBe(2)
  })

  it('A report that fails because the store is unavailable is counted when it is repeated.', async () => {
    // The key is cached, and the flags are not.
    const key = scene.live.sdkKey
    scene.store.break()
    expect((await report(key, 'report', event(1))).status).toBe(500)
    scene.store.repair()
    expect((await report(key, 'report', event(1))).status).toBe(200)
    expect(await counted()).toBe(1)
  })

  it.each([null, '', 'x'.repeat(65), 7])('The id %j is refused with its name.', async (id) => {
    const { status, body } = await report(await addKey(), id, event(1))
    const error = 'id is missing or has an invalid value.'
    expect([status, body]).toEqual([400, { error, statusCode: 400 }])
    expect(await counted()).toBe(0)
  })
})
