import type { Storage } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { addEnvironment } from '../../../server/test/seed.ts'
import { contextLimitsJob } from '../../src/insights/context-limits.ts'
import { openMetricsShop } from '../world/metrics-shop.ts'
import { contextSampleIn } from '../world/scene.ts'
import { stores } from '../world/stores.ts'
import { ContextStore, limits } from './context-store.ts'

const upTo = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index)

describe.each(stores)('Limits of observed contexts in %s', (_name, openStore) => {
  let store: ContextStore
  let storage: Storage
  let live: string
  let staging: string

  beforeEach(async () => {
    store = await ContextStore.create(openStore)
    storage = store.storage
    live = store.live
    staging = store.staging
    return () => store.close()
  })

  it('An environment keeps the contexts that were seen last, up to the limit', async () => {
    await store.record(live, upTo(0, 60))
    await store.record(staging, upTo(0, 40))
    const job = contextLimitsJob(storage, limits({ contexts: 40 }))
    for (let twice = 0; twice < 2; twice += 1) {
      await job.run()
      expect(await store.secondsOf(live)).toEqual(upTo(20, 60))
      expect(await store.secondsOf(staging)).toEqual(upTo(0, 40))
    }
  })

  it('The texts of contexts count towards the limit of bytes', async () => {
    await store.record(live, upTo(0, 30), 'x'.repeat(10_000))
    await contextLimitsJob(storage, limits({ bytes: 10 * 11_000 })).run()
    expect(await store.secondsOf(live)).toEqual(upTo(20, 30))
    await contextLimitsJob(storage, limits({ bytes: 1 })).run()
    expect(await store.secondsOf(live)).toEqual([])
  })

  it('Environments of an organization over its limit keep equal parts, and all of a smaller environment', async () => {
    const test = await addEnvironment(storage, store.projectId, 'test')
    await store.record(live, upTo(0, 100))
    await store.record(staging, upTo(0, 30))
    await store.record(test.environmentId, upTo(0, 5))
    await contextLimitsJob(storage, limits({}, { contexts: 45 })).run()
    expect(await store.secondsOf(live)).toEqual(upTo(80, 100))
    expect(await store.secondsOf(staging)).toEqual(upTo(10, 30))
    expect(await store.secondsOf(test.environmentId)).toEqual(upTo(0, 5))
  })

  it('The limits of a plan replace those of the installation for an organization, except those of an environment', async () => {
    const frame = { createdAt: '', updatedAt: '', deletedAt: null, revision: 1 }
    const none = { stripeProductId: null, stripePriceId: null, stripeMonthlyPriceId: null }
    const calls = { overageRateEurCents: 0, overageBlockSize: 1, graceBufferPct: 0 }
    await storage.insert('plan', {
      ...{ id: crypto.randomUUID(), name: 'Small', ...frame, ...none, ...calls },
      ...{ maxProjects: null, maxFlags: null, maxEnvironments: null, maxApiCalls: null },
      ...{ trialDays: null, mostPopular: false, productLink: null, stripeAnnualPriceId: null },
      ...{ maxObservedContexts: 30, maxObservedContextBytes: null },
    })
    const [plan] = (await storage.list('plan', {})).data
    await storage.update('organization', store.orgId, { planId: plan?.id ?? '' })
    await store.record(live, upTo(0, 40))
    await store.record(staging, upTo(0, 5))
    const job = contextLimitsJob(storage, limits({ contexts: 35 }, { contexts: 10 }))
    await job.run()
    expect(await store.secondsOf(live)).toEqual(upTo(15, 40))
    expect(await store.secondsOf(staging)).toEqual(upTo(0, 5))
    await storage.update('plan', plan?.id ?? '', { maxObservedContexts: 1000 })
    await store.record(live, upTo(40, 80))
    await job.run()
    expect(await store.secondsOf(live)).toEqual(upTo(45, 80))
  })

  it('Contexts beyond a limit that was lowered are deleted in portions', async () => {
    for (const thousand of [0, 1, 2, 3]) {
      await store.record(live, upTo(1000 * thousand, 1000 * (thousand + 1)))
    }
    const portions: number[] = []
    const watched: Storage = {
      ...storage,
      async purge(kind, query) {
        const deleted = await storage.purge(kind, query)
        portions.push(deleted)
        return deleted
      },
    }
    await contextLimitsJob(watched, limits({ contexts: 500 })).run()
    expect(portions).toEqual([1000, 1000, 1000, 500])
    expect(await store.secondsOf(live)).toEqual(upTo(3500, 4000))
  })
})

it('A running server applies the limits of its options within five minutes', async () => {
  const shop = await openMetricsShop({ maxContextsPerEnvironment: 1 })
  const place = { live: { id: shop.mine.live }, orgId: shop.mine.orgId } as never
  await shop.storage.recordContextSamples([
    contextSampleIn(place, { lastSeen: '2029-12-31T00:00:00.000Z' }),
    contextSampleIn(place, { lastSeen: '2029-12-31T00:00:01.000Z' }),
  ])
  await shop.clock.advance(5 * 60_000)
  const { data } = await shop.storage.list('observedContext', {})
  expect(data.map(({ lastSeen }) => lastSeen)).toEqual(['2029-12-31T00:00:01.000Z'])
  await shop.flags.close()
})

it.each([
  'maxContextsPerEnvironment',
  'maxContextBytesPerEnvironment',
  'maxContextsPerOrganization',
  'maxContextBytesPerOrganization',
])('createManagement refuses %s unless it is a positive integer', async (name) => {
  for (const limit of [0, -1, 1.5, Number.NaN, '5']) {
    const message = `\`${name}\` must be a positive integer (got ${limit}).`
    await expect(openMetricsShop({ [name]: limit as number })).rejects.toThrow(message)
  }
})
