import { expect, it } from 'vitest'
import { openMigratedPostgres } from '../../test/postgres-store.ts'
import { claimedIds, dueDelivery } from '../contract/claims/deliveries.ts'

it('A claim of deliveries does not wait for a transaction that has locked one of them', async () => {
  const { storage } = await openMigratedPostgres()
  const [locked, free] = [dueDelivery(), dueDelivery()]
  for (const each of [locked, free]) await storage.insert('webhookDelivery', each)
  await storage.transaction('lock', async (tx) => {
    await tx.hold('webhookDelivery', locked.id)
    expect(await claimedIds(storage)).toEqual([free.id])
    expect(await claimedIds(storage)).toEqual([])
  })
  expect(await claimedIds(storage)).toEqual([locked.id])
})
