import { evaluateAll, prepareIncrementally } from '@ff/core/all-flags'
import { expect, it } from 'vitest'
import { FlagSetCache } from '../../src/evaluation/flag-set-cache.ts'
import { SessionRegistry } from '../../src/live/session-registry.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { SavedState } from '../../src/snapshots/saved-state.ts'
import { allInMemory } from '../capabilities.ts'
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
  const publish = () => {
    changes += 1
    const published = [flagChange(textFlag('banner', `${changes}`))]
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

it('A new version is completely prepared before it replaces the version in use', async () => {
  const { change, present } = await slowCache(0)
  const before = present()
  if (before === undefined) throw new Error('No flag set is loaded')
  evaluateAll(before, { kind: 'user', key: 'u' }, 0)
  await change()
  const after = present()
  if (after === undefined || after === before) throw new Error('The new version was not loaded')
  expect([...prepareIncrementally(after)]).toEqual([])
})
