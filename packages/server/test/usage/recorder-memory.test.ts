import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { compileFlagSet, type EvaluationContext } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { evaluateTimed } from '../../src/evaluation/evaluated.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { UsageRecorder } from '../../src/usage/usage-recorder.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, until } from '../fake-clock.ts'
import { seed, textFlag } from '../seed.ts'
import { contextsIn } from './usage-scene.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const MIB = 1024 * 1024
/**
 * A batch size that is above the size of one write and below the limit of new contexts in a batch.
 */
const BATCH = 90
const NOTE = 'n'.repeat(15_000)

const flagSet = compileFlagSet({ version: 1, flags: [textFlag('title', 'x')], segments: [] })

const WHOLE = { privacy: 'all', keptAttributes: [], settingsRevision: 1, flagSet } as const

/** Creates a recorder that stores whole contexts, with a store that can fail. */
async function openScene() {
  const { storage } = allInMemory()
  const { live } = await seed(storage)
  const store = breakable(storage)
  const clock = new FakeClock()
  const usage = new UsageRecorder({
    storage: store.storage,
    cache: { samplingOf: () => WHOLE, listenToDrops: () => undefined },
    metrics: { observeEvaluation: () => undefined },
    clock,
    logger: silentLogger,
  })
  const evaluate = (context: EvaluationContext, environmentId = live.environmentId) => {
    const evaluated = evaluateTimed({ flagSet, context, now: clock.now() })
    usage.evaluated({ environmentId, kind: 'server' }, 'rest', evaluated, String(context.key))
  }
  return { storage, store, usage, evaluate, live }
}

describe('The memory of UsageRecorder', () => {
  it('The recorder keeps no context in memory while its sample waits for the store', async () => {
    const { store, usage, evaluate } = await openScene()
    store.break()
    const contexts: WeakRef<object>[] = []
    const evaluateOne = (key: string) => {
      const context = { kind: 'user', key, list: [{ key }] }
      contexts.push(new WeakRef(context))
      evaluate(context)
      evaluate(context)
    }
    for (let index = 0; index < 3; index += 1) evaluateOne(`user-${index}`)
    await until(() => {
      collectGarbage()
      return contexts.every((context) => context.deref() === undefined)
    })
    await usage.flush()
    expect(usage.stats.pending).toBeGreaterThanOrEqual(3)
    store.repair()
    await usage.flush()
    expect(usage.stats.pending).toBe(0)
  })

  it('The recorder keeps at most 8 MiB of pending contexts, and drops and counts the others', async () => {
    const { storage, store, usage, evaluate } = await openScene()
    await usage.flush()
    store.break()
    for (let index = 0; index < 700; index += 1) {
      if (index % BATCH === 0) await usage.flush()
      evaluate({ kind: 'user', key: `user-${index}`, note: NOTE })
    }
    const { contexts: dropped } = usage.stats.dropped
    expect((700 - dropped) * 2 * NOTE.length).toBeLessThan(8 * MIB)
    expect((700 - dropped) * 2 * NOTE.length).toBeGreaterThan(7 * MIB)
    store.repair()
    await usage.flush()
    expect(await contextsIn(storage)).toHaveLength(700 - dropped)
    evaluate({ kind: 'user', key: 'later', note: NOTE })
    await usage.flush()
    expect(usage.stats).toMatchObject({ dropped: { contexts: dropped }, pending: 0 })
  })

  it('The limit of pending contexts includes those that are being written', async () => {
    const { storage, store, usage, evaluate } = await openScene()
    const evaluateMany = async (first: number, count: number) => {
      for (let index = first; index < first + count; index += 1) {
        if (index % BATCH === 0) await usage.flush()
        evaluate({ kind: 'user', key: `user-${index}`, note: NOTE })
      }
    }
    store.break()
    await evaluateMany(0, 4 * BATCH)
    const { contexts: before } = usage.stats.dropped
    expect(before).toBeGreaterThan(0)
    store.repair()
    const { recordContextSamples } = storage
    let letThrough: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      letThrough = resolve
    })
    const slow = (...input: Parameters<typeof recordContextSamples>) =>
      gate.then(() => recordContextSamples(...input))
    Object.assign(storage, { recordContextSamples: slow })
    const written = usage.flush()
    await until(() => store.calls.includes('recordContextSamples'))
    expect(usage.stats.pending).toBeGreaterThan(200)
    evaluate({ kind: 'user', key: 'meanwhile', note: NOTE })
    expect(usage.stats.dropped.contexts).toBe(before + 1)
    letThrough()
    await written
    expect(usage.stats.pending).toBe(0)
  })

  it('The recorder stops reading a context that is too large to be stored', async () => {
    const { usage, evaluate } = await openScene()
    let reads = 0
    const list = new Proxy(
      Array.from({ length: 100_000 }, (_, index) => index),
      {
        get(target, name, receiver) {
          reads += 1
          return Reflect.get(target, name, receiver)
        },
      },
    )
    evaluate({ kind: 'user', key: 'user-1', list })
    expect(usage.stats.dropped.contexts).toBe(1)
    expect(reads).toBeLessThan(20_000)
  })

  it('The contexts of a deleted environment are counted as dropped only once, even if writes fail repeatedly', async () => {
    const { storage, store, usage, evaluate, live } = await openScene()
    evaluate({ kind: 'user', key: 'first' })
    await usage.flush()
    evaluate({ kind: 'user', key: 'lost' }, 'gone')
    evaluate({ kind: 'user', key: 'second' }, live.environmentId)
    const { recordContextSamples } = storage
    const away = () => Promise.reject(new Error('away'))
    Object.assign(storage, { recordContextSamples: away })
    for (let time = 0; time < 3; time += 1) await usage.flush()
    Object.assign(storage, { recordContextSamples })
    await usage.flush()
    expect(usage.stats.dropped.contexts).toBe(1)
    expect((await contextsIn(storage)).map(({ key }) => key)).toEqual(['first', 'second'])
    expect(store.calls).toContain('recordContextSamples')
  })
})
