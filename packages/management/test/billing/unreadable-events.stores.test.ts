import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stores } from '../world/stores.ts'
import type { Json } from '../world/world.ts'
import { createPayingWorld, type PayingWorld } from './paying-world.ts'
import { customer, deliver, event, invoice, second, subscription } from './stripe-events.ts'

const NOW = second('2030-01-01T00:00:00Z')

const without = (object: Json, field: string): Json => {
  const { [field]: _, ...rest } = object
  return rest
}

describe.each(stores)('A signed event that can never be read, in %s', (_name, open) => {
  let paying: PayingWorld
  let clean: () => void

  beforeEach(async () => {
    const store = open()
    clean = store.clean
    paying = await createPayingWorld(store.storage)
    const claimed = customer({ metadata: { org_id: paying.tenant.orgId } })
    expect((await deliver(paying.world, event('customer.created', NOW, claimed))).status).toBe(200)
  })

  afterEach(async () => {
    await paying.stripe.close()
    await paying.world.storage.close()
    clean()
  })

  it.each<[string, string, Json]>([
    ['without metadata', 'customer.updated', without(customer(), 'metadata')],
    ['without an e-mail address', 'customer.updated', without(customer(), 'email')],
    ['without its items', 'customer.subscription.updated', without(subscription(), 'items')],
    ['without its beginning', 'customer.subscription.created', without(subscription(), 'created')],
    ['without an amount', 'invoice.paid', without(invoice(), 'amount_due')],
    ['with a negative amount', 'invoice.paid', invoice({ amount_paid: -1 })],
    ['with a broken amount', 'invoice.paid', invoice({ amount_due: 0.5 })],
    ['without its transitions', 'invoice.paid', without(invoice(), 'status_transitions')],
    ['with a link to a script', 'invoice.paid', invoice({ invoice_pdf: 'javascript:alert(1)' })],
    ['with a plain link', 'invoice.paid', invoice({ hosted_invoice_url: 'http://pay.test/1' })],
  ])('An event %s is refused with 400 and changes nothing: %s', async (_case, type, object) => {
    const { world } = paying
    const before = [await paying.state(), (await world.storage.list('paymentEvent', {})).data]
    const answer = await deliver(world, event(type, NOW + 1, object))
    expect(answer.status).toBe(400)
    expect(answer.message).toMatch(/^The event evt_\d+ cannot be read: /)
    const after = [await paying.state(), (await world.storage.list('paymentEvent', {})).data]
    expect(after).toEqual(before)
  })
})
