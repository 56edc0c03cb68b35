import type { EvaluationCount, Storage } from '@ff/storage'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createFlagServer } from '../../src/flag-server.ts'
import { type Logger, silentLogger } from '../../src/runtime/logger.ts'
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

describe('Usage while the store is unavailable', () => {
  it('Evaluation continues while the store is unavailable, and pending usage is written one time afterwards', async () => {
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

  it.each([
    { writeMs: 0, random: 0.99, pauseMs: 1000 },
    { writeMs: 20, random: 0.5, pauseMs: 2000 },
    { writeMs: 5000, random: 0.5, pauseMs: 5500 },
    { writeMs: 5000, random: 0.99, pauseMs: 9910 },
  ])(
    'If writing takes $writeMs ms, usage is collected for $pauseMs ms before the next time',
    async ({ writeMs, random, pauseMs }) => {
      vi.spyOn(Math, 'random').mockReturnValue(random)
      onTestFinished(() => void vi.restoreAllMocks())
      const { clock, memory } = scene
      const beganAt: number[] = []
      let endedAt = 0
      const storage = new Proxy(shared(memory.storage), {
        get(target, name) {
          if (name !== 'addEvaluationCounts') return Reflect.get(target, name)
          return async (counts: readonly EvaluationCount[]) => {
            beganAt.push(clock.now())
            clock.set(clock.now() + writeMs)
            endedAt = clock.now()
            await target.addEvaluationCounts(counts)
          }
        },
      })
      const flags = createFlagServer({ ...memory, storage, clock })
      await flags.start()
      const pausesMs: number[] = []
      for (let round = 0; round < 3; round += 1) {
        const previousEndedAt = endedAt
        await evaluate(flags, scene.live.sdkKey, pro)
        while (beganAt.length === round) await clock.advance(10)
        pausesMs.push((beganAt[round] ?? 0) - previousEndedAt)
      }
      expect(pausesMs.slice(1)).toEqual([pauseMs, pauseMs])
      await flags.close()
    },
  )

  it('While counts are written less often, a hundred new contexts are stored every second', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.99)
    onTestFinished(() => void vi.restoreAllMocks())
    const { clock, memory } = scene
    const storage = new Proxy(shared(memory.storage), {
      get(target, name) {
        if (name !== 'addEvaluationCounts') return Reflect.get(target, name)
        return async (counts: readonly EvaluationCount[]) => {
          clock.set(clock.now() + 5000)
          await target.addEvaluationCounts(counts)
        }
      },
    })
    const flags = createFlagServer({ ...memory, storage, clock })
    await flags.start()
    await evaluate(flags, scene.live.sdkKey, pro)
    await clock.advance(1000)
    for (let second = 1; second <= 5; second += 1) {
      for (let index = 0; index < 90; index += 1) {
        await evaluate(flags, scene.live.sdkKey, user(100 * second + index))
      }
      await clock.advance(1000)
      expect(await contextsIn(memory.storage)).toHaveLength(1 + 90 * second)
    }
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 1 })
    await clock.advance(10_000)
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 451 })
    await flags.close()
  })

  it('Counts that wait for hours lose detail, but none of them is lost', async () => {
    const { store, clock, memory, live } = scene
    const many = Array.from({ length: 200 }, (_, index) => textFlag(`more-${index}`, 'x'))
    await publish(memory, live.environmentId, ...many.map(flagChange))
    await say()
    await clock.advance(5000)
    store.break()
    const minutes = 200
    for (let minute = 0; minute < minutes; minute += 1) {
      await say()
      clock.set(clock.now() + 59_000)
      await clock.advance(1000)
    }
    const { pending, evaluations, flags } = await lossesOf(scene)
    expect(pending).toBeLessThan((202 * minutes) / 4)
    expect([evaluations, flags]).toEqual([0, 0])
    store.repair()
    await clock.advance(60_000)
    expect(await lossesOf(scene)).toMatchObject({ pending: 0 })
    for (const id of ['flag-more-7', TITLE]) {
      expect(Object.values(await countsOf(scene, id))).toEqual([1 + minutes])
    }
  })

  it('Pending contexts are limited, and further contexts are dropped and reported', async () => {
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

describe('Usage while the store is slow', () => {
  it('Evaluation does not wait for a slow store, and only one batch is written at a time', async () => {
    const { store, clock } = scene
    await say()
    await clock.advance(1000)
    store.hold()
    store.calls.length = 0
    for (let second = 0; second < 20; second += 1) {
      // The reply arrives although the store does not respond to any call.
      expect(await answerTo(user(second))).toEqual(VALUES)
      await clock.advance(1000)
    }
    const writes = store.calls.filter((name) => name === 'addEvaluationCounts')
    expect(writes).toHaveLength(1)
    store.release()
  })

  it('Usage that is counted during a write is written afterwards without another request', async () => {
    const { store, clock } = scene
    await say()
    store.hold()
    await clock.advance(1000)
    expect(store.calls).toContain('addEvaluationCounts')
    await say()
    await clock.advance(1000)
    store.release()
    const later = async () => {
      await clock.advance(1000)
      return Object.values(await countsOf(scene, TITLE))
    }
    await expect.poll(later).toEqual([2])
  })
})

describe('A batch that can only be written in part', () => {
  it('The failure of one kind of usage is logged once, and the other kinds are written', async () => {
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
      'Some usage could not be written and stays pending',
    ])
    isBroken = false
    await clock.advance(1000)
    expect(await countsOf(scene, TITLE)).toEqual({ 'rest STATIC title-shop': 1 })
    expect(lines.at(-1)).toBe('Usage can be written again')
    await flags.close()
  })
})

/** Returns the same store, which never responds to new evaluation counts. */
function withoutResponse(storage: Storage): Storage {
  return new Proxy(shared(storage), {
    get: (target, name) =>
      name === 'addEvaluationCounts'
        ? () => new Promise(() => undefined)
        : Reflect.get(target, name),
  })
}

describe('Usage of a server that is closed', () => {
  it('Closing a server writes all pending usage', async () => {
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

  it('Closing a server does not wait forever for a store that does not respond', async () => {
    const { memory, clock, live } = scene
    const storage = withoutResponse(memory.storage)
    const flags = createFlagServer({ ...memory, storage, clock })
    await evaluate(flags, live.sdkKey, pro)
    let isClosed = false
    void flags.close().then(() => {
      isClosed = true
    })
    await settle()
    expect(isClosed).toBe(false)
    await clock.advance(7000)
    expect(isClosed).toBe(true)
  })

  it('Closing a server logs the number of evaluations that could not be written', async () => {
    const { memory, clock, live } = scene
    const storage = withoutResponse(memory.storage)
    const many = Array.from({ length: 6000 }, (_, index) => textFlag(`many-${index}`, 'x'))
    await publish(memory, live.environmentId, ...many.map((flag) => flagChange(flag)))
    const warnings: unknown[] = []
    const logger = { ...silentLogger, warn: (...entry: unknown[]) => warnings.push(entry) }
    const flags = createFlagServer({ ...memory, storage, clock, logger })
    await evaluate(flags, live.sdkKey, pro)
    const closing = flags.close()
    await settle()
    await clock.advance(7000)
    await closing
    const [message, { pending, uncounted }] = warnings.at(-1) as [string, Record<string, number>]
    expect(message).toBe('Some usage could not be written')
    // The environment has two more flags. One context and the request are pending, too.
    expect([pending, uncounted]).toEqual([5002, 1002])
  })
})

describe('Usage of several instances', () => {
  it('The usage of several instances is added up, even if they write at the same time', async () => {
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
