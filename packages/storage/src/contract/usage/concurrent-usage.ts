import { expect, it } from 'vitest'
import type { Storage } from '../../ports/storage.ts'
import { newContextSample } from '../samples/context-samples.ts'
import { newId } from '../samples/sample-fields.ts'
import { sample } from '../samples/samples.ts'
import { barrier } from '../writers/overlapping-transactions.ts'
import { addAndTake } from './api-calls.ts'

/** Tests usage data that two instances with one database write at the same time. */
export function describeConcurrentUsage(stores: () => readonly [Storage, Storage]): void {
  it('Counts that several writers add to the same rows in opposite order are exact', async () => {
    const environmentId = newId()
    const flagIds = Array.from({ length: 50 }, newId)
    const minute = '2026-04-01T00:00:00.000Z'
    const outcome = { variationId: null, reason: 'DEFAULT', source: 'rest' } as const
    // The first count of a call can determine its lock. These calls overlap.
    const counts = flagIds.map((flagId, at) => {
      const instanceId = `instance ${at}`
      return { environmentId, flagId, minute, ...outcome, instanceId, count: 1, micros: 3 }
    })
    const writes = Array.from({ length: 10 }, (_, at) => {
      const storage = stores()[at % 2 === 0 ? 0 : 1]
      return storage.addEvaluationCounts(at % 4 < 2 ? counts : counts.toReversed())
    })
    await Promise.all(writes)
    for (const flagId of flagIds) {
      const query = { environmentId, flagId, from: '2026', to: '2027' }
      const totals = await stores()[1].loadEvaluationCounts(query)
      expect(totals).toEqual([{ ...outcome, count: 10, micros: 30 }])
    }
  })

  it('Marking flags as evaluated waits for no transaction, and keeps its changes', async () => {
    const [one, other] = stores()
    const flags = [sample('flag'), sample('flag')]
    for (const flag of flags) await one.insert('flag', flag)
    const [first, second] = flags.map(({ id }) => id)
    const meet = barrier()
    const at = '2026-05-01T00:00:00.000Z'
    const changing = one.transaction('lock', async (tx) => {
      await tx.update('flag', first ?? '', { name: 'changed' })
      await meet()
    })
    const skipped = await other.markEvaluated(
      flags.map(({ id }) => id),
      at,
    )
    await meet()
    await changing
    expect([[], [first]]).toContainEqual(skipped)
    expect(await other.markEvaluated(skipped, at)).toEqual([])
    expect(await one.find('flag', first ?? '')).toMatchObject({
      ...{ name: 'changed', lastEvaluatedAt: at, unusedSince: at },
    })
    expect(await one.find('flag', second ?? '')).toMatchObject({ lastEvaluatedAt: at })
  })

  it('API calls that several writers add and take at the same time are taken exactly once', async () => {
    expect(await addAndTake(stores(), { organizationId: newId() })).toBe(60)
  })

  it('Context samples that several writers record are merged', async () => {
    const environmentId = newId()
    const samples = Array.from({ length: 20 }, (_, at) => {
      return newContextSample({ environmentId, hash: `hash ${at}`, seenCount: 1 })
    })
    const again = () => samples.map((each) => ({ ...each, id: newId() }))
    const writes = Array.from({ length: 6 }, (_, at) => {
      const storage = stores()[at % 2 === 0 ? 0 : 1]
      return storage.recordContextSamples(at % 4 < 2 ? again() : again().toReversed())
    })
    await Promise.all(writes)
    const query = { environmentId, seenFrom: '', limit: 100 }
    const { data } = await stores()[0].loadContexts(query)
    expect(data.map(({ seenCount }) => seenCount)).toEqual(samples.map(() => 6))
  })
}
