import type { FlagDefinition, FlagSet } from '@ff/core'
import { prepareIncrementally } from '@ff/core/all-flags'
import { describe, expect, it } from 'vitest'
import { FlagSetCache } from '../../src/evaluation/flag-set-cache.ts'
import { SessionRegistry } from '../../src/live/session-registry.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { SavedState } from '../../src/snapshots/saved-state.ts'
import { allInMemory, breakable } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import { flagChange, OCCASION, seed, textFlag } from '../seed.ts'

/**
 * Creates a cache with a store in memory and a clock that advances by `takesMs` for each loaded
 * version.
 */
async function slowCache(takesMs: number) {
  const { storage } = allInMemory()
  const { live } = await seed(storage)
  const { environmentId } = live
  const clock = new FakeClock()
  const limits = { sessions: new SessionRegistry(), maxFlagSetBytes: Number.POSITIVE_INFINITY }
  const options = { storage, logger: silentLogger, clock, ...limits }
  const cache = new FlagSetCache({ ...options, saved: new SavedState(options) })
  cache.listen(() => clock.set(clock.now() + takesMs))
  await cache.get({ environmentId, kind: 'server' })
  let changes = 0
  const publish = (...others: readonly FlagDefinition[]) => {
    changes += 1
    const published = [textFlag('banner', `${changes}`), ...others].map(flagChange)
    return storage.publish(environmentId, published, OCCASION)
  }
  const change = async () => {
    const version = await publish()
    void cache.refresh(environmentId, version)
    await settle()
    return version
  }
  const present = () => cache.peek(environmentId)?.flagSets.server
  return { cache, clock, environmentId, publish, change, present, held: () => present()?.version }
}

it('Changes are loaded immediately while loading takes little time', async () => {
  const { change, held } = await slowCache(2)
  for (let round = 0; round < 100; round += 1) expect(await change()).toBe(held())
})

it('Many changes of a large environment are loaded together, each at most half a second late', async () => {
  const { cache, clock, change, held } = await slowCache(20)
  const before = cache.swaps
  let newest = 0
  for (let tick = 0; tick < 2000; tick += 1) {
    newest = await change()
    await clock.advance(5)
  }
  // Ten seconds allow a quarter of a second without a pause, and then a fiftieth of the time.
  expect(cache.swaps - before).toBeGreaterThan(15)
  expect(cache.swaps - before).toBeLessThan(40)
  await clock.advance(500)
  expect(held()).toBe(newest)
})

it('Changes are loaded immediately again after a pause', async () => {
  const { clock, change, held } = await slowCache(100)
  for (let round = 0; round < 5; round += 1) await change()
  expect(held()).toBeLessThan(5)
  await clock.advance(60_000)
  expect(await change()).toBe(held())
})

it('A change is served when its call resolves, except while loading pauses after many changes', async () => {
  const { cache, clock, environmentId, publish, change, held } = await slowCache(100)
  const heldAfter = async () => {
    const version = await publish()
    await cache.serve(environmentId, version)
    return { version, held: held() }
  }
  const first = await heldAfter()
  expect(first.held).toBe(first.version)
  for (let round = 0; round < 5; round += 1) await change()
  const paused = await heldAfter()
  expect(paused.held).toBeLessThan(paused.version)
  await clock.advance(500)
  expect(held()).toBe(paused.version)
  await clock.advance(60_000)
  const later = await heldAfter()
  expect(later.held).toBe(later.version)
})

describe('The preparation of an evaluation of all flags together', () => {
  it('A flag set is prepared after eight uses, and then each new version before it replaces the version in use', async () => {
    const { cache, change, environmentId, present } = await slowCache(0)
    for (let use = 2; use < 8; use += 1) cache.find({ environmentId, kind: 'server' })
    await settle()
    await change()
    expect([...prepareIncrementally(present() as FlagSet)]).not.toEqual([])
    cache.find({ environmentId, kind: 'client' })
    await settle()
    const before = present() as FlagSet
    expect([...prepareIncrementally(before)]).toEqual([])
    await change()
    const after = present() as FlagSet
    expect(after.version).toBe(before.version + 1)
    expect([...prepareIncrementally(after)]).toEqual([])
  })

  it('A flag set with many flags is prepared before its first use', async () => {
    const { cache, environmentId, change, publish, present } = await slowCache(0)
    await publish(...Array.from({ length: 500 }, (_, index) => textFlag(`flag-${index}`, 'a')))
    await change()
    expect(present()?.ordered).toHaveLength(501)
    expect([...prepareIncrementally(present() as FlagSet)]).toEqual([])
    expect(cache.peek(environmentId)).toBeDefined()
  })
})

it('After the store has responded again, the first read of another environment waits for it', async () => {
  const clock = new FakeClock()
  const { storage } = allInMemory()
  const { live, staging } = await seed(storage)
  const store = breakable(storage)
  const load = async () => ({ value: { version: 0, flags: [], segments: [] }, confirmedAt: 0 })
  const saved = { load, save: () => undefined, confirm: () => undefined } as never
  const limits = { sessions: new SessionRegistry(), maxFlagSetBytes: Number.POSITIVE_INFINITY }
  const options = { storage: store.storage, logger: silentLogger, clock, saved, ...limits }
  const cache = new FlagSetCache(options)
  /** Loads an environment, and returns the version that is used when the store responds. */
  const loadIn = async (environmentId: string, ms: number) => {
    await storage.publish(environmentId, [flagChange(textFlag('banner', 'a'))], OCCASION)
    store.hold()
    const loading = cache.get({ environmentId, kind: 'server' })
    await settle()
    await clock.advance(ms)
    const early = cache.peek(environmentId)?.flagSets.server.version
    store.release()
    await loading
    await settle()
    expect(cache.peek(environmentId)?.flagSets.server.version).toBe(1)
    return early
  }
  expect(await loadIn(live.environmentId, 600)).toBe(0)
  expect(await loadIn(staging.environmentId, 100)).toBeUndefined()
})
