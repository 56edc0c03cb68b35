import { describe, expect, it } from 'vitest'
import type { DeliveryClaim } from '../../ports/delivery-claim.ts'
import type { Records } from '../../ports/records.ts'
import type { Storage } from '../../ports/storage.ts'
import { newId } from '../samples/sample-fields.ts'
import { sample } from '../samples/samples.ts'

type Delivery = Records['webhookDelivery']

/** The time of the claims, in minutes of one hour. */
const NOW = 30

/** Returns a timestamp in a certain minute. */
const at = (minute: number) => `2026-04-01T10:${minute}:00.000Z`

/** A claim without limits that matter. */
const CLAIM: DeliveryClaim = {
  now: at(NOW),
  expiresAt: at(NOW + 1),
  limit: 100,
  limitPerWebhook: 100,
  inProgress: {},
  readLimit: 100,
  postponedTo: at(NOW + 2),
}

/** Returns an untried delivery that is due, by default to a webhook of its own. */
export function dueDelivery(fields: Partial<Delivery> = {}): Delivery {
  const untried = { attempts: 0, lastStatus: null, lastError: null, durationMs: null }
  return sample('webhookDelivery', { ...untried, nextAttemptAt: at(NOW), ...fields })
}

/** Claims deliveries, and returns their ids. */
export async function claimedIds(
  storage: Pick<Storage, 'claimDeliveries'>,
  options: Partial<DeliveryClaim> = {},
): Promise<readonly string[]> {
  return (await storage.claimDeliveries({ ...CLAIM, ...options })).map(({ id }) => id)
}

/** Tests `claimDeliveries`. */
export function describeDeliveries(open: () => Promise<Storage>): void {
  describe('claims of deliveries', () => {
    describeClaims(open)
    describeLimits(open)
    describePostponing(open)
  })
}

async function insertAll(storage: Storage, deliveries: readonly Delivery[]): Promise<void> {
  await storage.transaction('lock', async (tx) => {
    for (const each of deliveries) await tx.insert('webhookDelivery', each)
  })
}

function describeClaims(open: () => Promise<Storage>): void {
  it('A claimed delivery has one more attempt, the expiry of the claim, and no result', async () => {
    const storage = await open()
    const result = { lastStatus: 503, lastError: 'status', durationMs: 7 } as const
    const delivery = dueDelivery({ attempts: 2, ...result })
    await storage.insert('webhookDelivery', delivery)
    const [claimed] = await storage.claimDeliveries(CLAIM)
    const noResult = { lastStatus: null, lastError: null, durationMs: null }
    const expected = { ...delivery, ...noResult, attempts: 3, nextAttemptAt: CLAIM.expiresAt }
    expect(claimed).toEqual(expected)
    expect(await storage.find('webhookDelivery', delivery.id)).toEqual(expected)
  })

  it('Only pending deliveries that are due are claimed', async () => {
    const storage = await open()
    const due = [dueDelivery(), dueDelivery({ nextAttemptAt: at(NOW - 1) })]
    const others = [
      dueDelivery({ nextAttemptAt: at(NOW + 1) }),
      dueDelivery({ nextAttemptAt: null }),
      dueDelivery({ status: 'delivered' }),
      dueDelivery({ status: 'failed', nextAttemptAt: null }),
    ]
    await insertAll(storage, [...others, ...due])
    expect(new Set(await claimedIds(storage))).toEqual(new Set(due.map(({ id }) => id)))
    for (const other of others) {
      expect(await storage.find('webhookDelivery', other.id)).toEqual(other)
    }
  })

  it('A delivery is claimed again when its claim has expired, and not before', async () => {
    const storage = await open()
    const delivery = dueDelivery()
    await storage.insert('webhookDelivery', delivery)
    expect(await claimedIds(storage)).toEqual([delivery.id])
    expect(await claimedIds(storage)).toEqual([])
    const later = { now: CLAIM.expiresAt, expiresAt: at(NOW + 9) }
    const [again] = await storage.claimDeliveries({ ...CLAIM, ...later })
    expect(again).toMatchObject({ id: delivery.id, attempts: 2 })
  })

  it('A claim in a failed transaction has no effect', async () => {
    const storage = await open()
    const delivery = dueDelivery()
    await storage.insert('webhookDelivery', delivery)
    const failing = storage.transaction('lock', async (tx) => {
      expect(await claimedIds(tx)).toEqual([delivery.id])
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await storage.find('webhookDelivery', delivery.id)).toEqual(delivery)
  })
}

function describeLimits(open: () => Promise<Storage>): void {
  it('The deliveries that have been due for the longest time are claimed first, up to the limit', async () => {
    const storage = await open()
    const deliveries = [13, 11, 14, 12, 15].map((minute) =>
      dueDelivery({ nextAttemptAt: at(minute) }),
    )
    await insertAll(storage, deliveries)
    const minutesOf = async (limit: number) => {
      const claimed = new Set(await claimedIds(storage, { limit }))
      return deliveries.filter(({ id }) => claimed.has(id)).map((each) => each.nextAttemptAt)
    }
    expect(await minutesOf(2)).toEqual([at(11), at(12)])
    expect(await minutesOf(2)).toEqual([at(13), at(14)])
    expect(await minutesOf(2)).toEqual([at(15)])
  })

  it('A claim reads only the deliveries that have been due for the longest time', async () => {
    const storage = await open()
    const [webhookId, other] = [newId(), newId()]
    const slow = [10, 11, 12].map((minute) => dueDelivery({ webhookId, nextAttemptAt: at(minute) }))
    const last = dueDelivery({ webhookId: other, nextAttemptAt: at(13) })
    await insertAll(storage, [...slow, last])
    const claim = { readLimit: 2, limitPerWebhook: 1 }
    expect(await claimedIds(storage, claim)).toEqual([slow[0]?.id])
  })

  it('The deliveries in progress count towards the limit of their webhook', async () => {
    const storage = await open()
    const [busy, idle, full] = [newId(), newId(), newId()]
    const deliveries = [busy, busy, busy, idle, idle, idle, full].map((webhookId) =>
      dueDelivery({ webhookId }),
    )
    await insertAll(storage, deliveries)
    const inProgress = { [busy]: 1, [full]: 2, [newId()]: 9 }
    const claimed = await storage.claimDeliveries({ ...CLAIM, limitPerWebhook: 2, inProgress })
    const counts = [busy, idle, full].map(
      (id) => claimed.filter(({ webhookId }) => webhookId === id).length,
    )
    expect(counts).toEqual([1, 2, 0])
  })
}

function describePostponing(open: () => Promise<Storage>): void {
  it('Further due deliveries to a webhook that reaches its limit are postponed, and keep their result', async () => {
    const storage = await open()
    const webhookId = newId()
    const result = { attempts: 3, lastStatus: 500, lastError: 'status' } as const
    const [first, second] = [10, 11].map((minute) =>
      dueDelivery({ webhookId, nextAttemptAt: at(minute), ...result }),
    ) as [Delivery, Delivery]
    const later = dueDelivery({ webhookId, nextAttemptAt: at(NOW + 1) })
    await insertAll(storage, [second, first, later])
    expect(await claimedIds(storage, { limitPerWebhook: 1 })).toEqual([first.id])
    const postponed = { ...second, nextAttemptAt: CLAIM.postponedTo }
    expect(await storage.find('webhookDelivery', second.id)).toEqual(postponed)
    expect(await storage.find('webhookDelivery', later.id)).toEqual(later)
  })

  it('Many due deliveries to a webhook at its limit do not block those to other webhooks', async () => {
    const storage = await open()
    const slow = newId()
    const ofSlow = Array.from({ length: 25 }, (_, index) =>
      dueDelivery({ webhookId: slow, nextAttemptAt: at(10), id: `${index}`.padStart(3, '0') }),
    )
    const other = dueDelivery({ nextAttemptAt: at(20) })
    await insertAll(storage, [...ofSlow, other])
    const claim = { readLimit: 10, limitPerWebhook: 4, inProgress: { [slow]: 4 } }
    const claims: string[] = []
    for (let call = 0; call < 3; call += 1) claims.push(...(await claimedIds(storage, claim)))
    expect(claims).toEqual([other.id])
  })

  it('Deliveries that only the limit of the call excludes are not postponed', async () => {
    const storage = await open()
    const deliveries = [10, 11].map((minute) => dueDelivery({ nextAttemptAt: at(minute) }))
    await insertAll(storage, deliveries)
    await claimedIds(storage, { limit: 1, limitPerWebhook: 2 })
    expect(await storage.find('webhookDelivery', deliveries[1]?.id ?? '')).toEqual(deliveries[1])
  })
}
