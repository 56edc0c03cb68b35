import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { addEnvironment } from '../../../server/test/seed.ts'
import { contextLimitsJob } from '../../src/insights/context-limits.ts'
import { stores } from '../world/stores.ts'
import { ContextStore, limits } from './context-store.ts'

describe.each(stores)('Limits of observed contexts in %s', (_name, openStore) => {
  it('In each window, the contexts that remain are all those of an unlimited store since the oldest of them', async () => {
    const store = await ContextStore.create(openStore)
    const visits = fc.array(
      fc.record({ user: fc.integer({ min: 0, max: 40 }), pause: fc.integer({ min: 1, max: 5 }) }),
      { minLength: 1, maxLength: 120 },
    )
    const limit = fc.integer({ min: 1, max: 30 })
    await fc.assert(
      fc.asyncProperty(
        visits,
        limit,
        fc.array(fc.nat(119), { maxLength: 3 }),
        async (all, most, limited) => {
          const [{ environmentId: one }, { environmentId: other }] = [
            await addEnvironment(store.storage, store.projectId, crypto.randomUUID()),
            await addEnvironment(store.storage, store.projectId, crypto.randomUUID()),
          ]
          const job = contextLimitsJob(store.storage, limits({ contexts: most }))
          const hashes = new Map<number, string>()
          const unlimited = new Map<string, number>()
          let second = 0
          for (const [index, { user, pause }] of all.entries()) {
            second += pause
            const hash = hashes.get(user) ?? crypto.randomUUID().replaceAll('-', '')
            hashes.set(user, hash)
            unlimited.set(hash, second)
            await store.storage.recordContextSamples([{ ...store.seen(one, second), hash }])
            if (limited.includes(index)) await job.run()
          }
          await store.storage.recordContextSamples([store.seen(other, 0)])
          await job.run()
          const expected = [...unlimited].sort(([, a], [, b]) => b - a).slice(0, most)
          const query = { environmentId: one, seenFrom: '', limit: 100 }
          const { data } = await store.storage.loadContexts(query)
          expect(data.map(({ hash }) => hash)).toEqual(expected.map(([hash]) => hash).sort())
          expect(await store.secondsOf(other)).toEqual([0])
          await store.storage.purge('observedContext', { where: { environmentId: one } })
          await store.storage.purge('observedContext', { where: { environmentId: other } })
        },
      ),
      { numRuns: runs(25) },
    )
    await store.close()
  })
})
