import { expect, it } from 'vitest'
import type { Storage, StorageSession } from '../../ports/storage.ts'
import { barrier, both, pause } from '../writers/overlapping-transactions.ts'
import { claimedIds, dueDelivery } from './deliveries.ts'

/** Tests claims of two instances with one database. */
export function describeConcurrentClaims(stores: () => readonly [Storage, Storage]): void {
  it('A lease of one store is refused to the other until it is released or expires', async () => {
    const [first, second] = stores()
    const claim = (storage: Storage, holder: string, forMs: number) =>
      storage.claimLease({ name: 'jobs', holder, forMs })
    expect(await claim(first, 'a', 3_600_000)).toBe(true)
    expect(await claim(second, 'b', 3_600_000)).toBe(false)
    await first.releaseLease({ name: 'jobs', holder: 'a' })
    expect(await claim(second, 'b', 20)).toBe(true)
    await pause(30)
    expect(await claim(first, 'a', 3_600_000)).toBe(true)
  })

  it('Two stores that claim deliveries at the same time never receive the same delivery', async () => {
    const [first] = stores()
    const deliveries = Array.from({ length: 60 }, () => dueDelivery())
    await first.transaction('lock', async (tx) => {
      for (const each of deliveries) await tx.insert('webhookDelivery', each)
    })
    const claims = Array.from({ length: 12 }, (_, at) =>
      claimedIds(stores()[at % 2 === 0 ? 0 : 1], { limit: 7 }),
    )
    const ids = (await Promise.all(claims)).flat()
    expect(new Set(ids).size).toBe(ids.length)
    ids.push(...(await claimedIds(first)))
    expect(ids.sort()).toEqual(deliveries.map(({ id }) => id).sort())
  })

  it('Overlapping transactions never claim the same delivery, and a claim that was rolled back is free', async () => {
    const meet = barrier()
    const deliveries = Array.from({ length: 4 }, () => dueDelivery())
    for (const each of deliveries) await stores()[0].insert('webhookDelivery', each)
    const claim = (isCommitted: boolean) => async (tx: StorageSession) => {
      const ids = await claimedIds(tx, { limit: 2 })
      await meet()
      if (!isCommitted) throw new Error('rolled back')
      return ids
    }
    const [first] = await both(stores(), claim(true), claim(false))
    const claimed = 'result' in first ? [...first.result] : []
    claimed.push(...(await claimedIds(stores()[1])))
    expect(claimed.sort()).toEqual(deliveries.map(({ id }) => id).sort())
  })
}
