import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer } from '../../src/flag-server.ts'
import type { Logger } from '../../src/runtime/logger.ts'
import { evaluate } from '../call.ts'
import { settle } from '../fake-clock.ts'
import { flagChange, publish, textFlag } from '../seed.ts'
import {
  apiUsage,
  contextsIn,
  countsOf,
  lossesOf,
  openScene,
  pro,
  type Scene,
  shared,
  TITLE,
} from './usage-scene.ts'

let scene: Scene

beforeEach(async () => {
  scene = await openScene()
  return () => scene.flags.close()
})

const say = (context: unknown = pro) => evaluate(scene.flags, scene.live.sdkKey, context)
const user = (index: number) => ({ ...pro, key: `person-${index}` })

async function answerTo(context: unknown = pro): Promise<unknown> {
  const { status, body } = await say(context)
  return status === 200 ? body : status
}

const VALUES = { banner: 'other', title: 'shop' }

describe('while the store is away', () => {
  it('evaluation does not notice, and what waited is written when it is back, each once', async () => {
    const { store, clock } = scene
    await say()
    store.break()
    for (let second = 0; second < 90; second += 1) {
      expect(await answerTo(user(second % 3))).toEqual(VALUES)
      await clock.advance(1000)
    }
    expect(await lossesOf(scene)).toMatchObject({ evaluations: 0, contexts: 0, requests: 0 })
    store.repair()
    await clock.advance(2000)
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 91 })
    expect(await apiUsage(scene)).toBe(91)
    const seen = (await contextsIn(scene.memory.storage)).map(({ seenCount }) => seenCount)
    expect(seen.sort()).toEqual([1, 30, 30, 30])
    expect(await lossesOf(scene)).toMatchObject({ pending: 0 })
  })

  it('no more counts wait than there is room for; the rest is dropped, and is counted', async () => {
    const { store, clock, memory, live } = scene
    const many = Array.from({ length: 200 }, (_, index) => textFlag(`more-${index}`, 'x'))
    await publish(memory, live.environmentId, ...many.map(flagChange))
    await say()
    await clock.advance(5000)
    store.break()
    for (let minute = 0; minute < 110; minute += 1) {
      await say()
      clock.set(clock.now() + 59_000)
      await clock.advance(1000)
    }
    const { pending, evaluations } = await lossesOf(scene)
    expect(pending).toBeGreaterThanOrEqual(20_000)
    expect(pending).toBeLessThan(20_010)
    expect(evaluations).toBe(110 * 202 - 20_000)
    store.repair()
    await clock.advance(2000)
    const [written] = Object.values(await countsOf(scene, 'flag-more-7'))
    expect(written).toBe(1 + Math.floor(20_000 / 202))
  })

  it('no more contexts wait than there is room for; the rest is dropped, and is counted', async () => {
    const { store, clock, memory } = scene
    await say()
    await clock.advance(1000)
    store.break()
    for (let second = 0; second < 25; second += 1) {
      for (let index = 0; index < 100; index += 1) await say(user(second * 100 + index))
      await clock.advance(1000)
    }
    expect(await lossesOf(scene)).toMatchObject({ contexts: 500, evaluations: 0, requests: 0 })
    store.repair()
    await clock.advance(2000)
    for (let batch = 0; batch < 21; batch += 1) await settle()
    expect(await contextsIn(memory.storage)).toHaveLength(2001)
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 2501 })
    expect(await apiUsage(scene)).toBe(2501)
  })
})

describe('while the store is slow', () => {
  it('evaluation does not wait for it, and one batch is under way at a time', async () => {
    const { store, clock } = scene
    await say()
    await clock.advance(1000)
    store.delay(2000)
    store.calls.length = 0
    let longest = 0
    for (let second = 0; second < 20; second += 1) {
      const startedAt = performance.now()
      expect(await answerTo(user(second))).toEqual(VALUES)
      longest = Math.max(longest, performance.now() - startedAt)
      await clock.advance(1000)
    }
    expect(longest).toBeLessThan(1000)
    const writes = store.calls.filter((name) => name === 'addEvaluationCounts')
    expect(writes).toHaveLength(1)
    store.delay(0)
  })

  it('what is counted during a batch is written after it, though nobody asks any more', async () => {
    const { store, clock } = scene
    store.delay(100)
    for (let batch = 0; batch < 2; batch += 1) {
      await say()
      await clock.advance(1000)
    }
    store.delay(0)
    const later = async () => {
      await clock.advance(1000)
      return Object.values(await countsOf(scene, TITLE))
    }
    await expect.poll(later, { timeout: 5000 }).toEqual([2])
  })
})

describe('a batch that only in part can be written', () => {
  it('leaves the other parts to be written, and says once what is wrong', async () => {
    const { memory, clock, live } = scene
    const lines: string[] = []
    const note = (message: string) => void lines.push(message)
    const logger: Logger = { debug: note, info: note, warn: note, error: note }
    let isBroken = true
    const storage = new Proxy(shared(memory.storage), {
      get(target, name) {
        if (name !== 'addEvaluationCounts' || !isBroken) return Reflect.get(target, name)
        return () => Promise.reject(new Error('the table is locked'))
      },
    })
    const flags = createFlagServer({ ...memory, storage, clock, logger })
    await evaluate(flags, live.sdkKey, pro)
    await clock.advance(5000)
    expect(await apiUsage(scene)).toBe(1)
    expect(await contextsIn(memory.storage)).toHaveLength(1)
    expect(lines.filter((line) => line.includes('usage'))).toEqual([
      'usage could not be written; some of it waits',
    ])
    isBroken = false
    await clock.advance(1000)
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 1 })
    expect(lines.at(-1)).toBe('usage can be written again')
    await flags.close()
  })
})

describe('a server that stops', () => {
  it('writes what it still has, to the last evaluation, and then nothing more', async () => {
    const { memory, clock, live } = scene
    const flags = createFlagServer({ ...memory, storage: shared(memory.storage), clock })
    await evaluate(flags, live.sdkKey, pro)
    await clock.advance(1000)
    await evaluate(flags, live.sdkKey, pro)
    await flags.close()
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 2 })
    expect(await apiUsage(scene)).toBe(2)
    expect(await contextsIn(memory.storage)).toMatchObject([{ seenCount: 2 }])
    expect((await memory.storage.list('userSketch', {})).total).toBe(1)
  })

  it('does not wait for ever for a store that does not answer', async () => {
    const { memory, clock, live } = scene
    const storage = new Proxy(shared(memory.storage), {
      get: (target, name) =>
        name === 'addEvaluationCounts'
          ? () => new Promise(() => undefined)
          : Reflect.get(target, name),
    })
    const flags = createFlagServer({ ...memory, storage, clock })
    await evaluate(flags, live.sdkKey, pro)
    let isClosed = false
    void flags.close().then(() => {
      isClosed = true
    })
    await settle()
    expect(isClosed).toBe(false)
    await clock.advance(3000)
    expect(isClosed).toBe(true)
  })
})

describe('several instances', () => {
  it('add up, even when they write at the same time', async () => {
    const { memory, clock, live } = scene
    const others = [1, 2, 3].map(() => {
      return createFlagServer({ ...memory, storage: shared(memory.storage), clock })
    })
    for (const flags of [scene.flags, ...others]) {
      for (let round = 0; round < 5; round += 1) await evaluate(flags, live.sdkKey, pro)
    }
    await clock.advance(1000)
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 20 })
    expect(await apiUsage(scene)).toBe(20)
    expect(await contextsIn(memory.storage)).toMatchObject([{ seenCount: 20 }])
    for (const flags of others) await flags.close()
  })
})
