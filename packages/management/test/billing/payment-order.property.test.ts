import type { Storage } from '@ff/storage'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { stores } from '../world/stores.ts'
import type { Json } from '../world/world.ts'
import { createPayingWorld } from './paying-world.ts'
import {
  checkoutSession,
  customer,
  deliver,
  event,
  invoice,
  second,
  subscription,
} from './stripe-events.ts'

const NOW = second('2030-01-01T00:00:00Z')

/** Returns sequences of events from a checkout by link. `ORG` stands for the organization's id. */
function stories(): readonly Json[][] {
  const trial = { trial_start: NOW, trial_end: NOW + 900 }
  const ended = { status: 'canceled', ended_at: NOW + 800, ...trial }
  const claim = { client_reference_id: 'ORG' }
  const next = { id: 'sub_2', price: 'price_business', created: NOW + 700 }
  return [
    [
      event('customer.created', NOW, customer()),
      event('customer.subscription.created', NOW, subscription({ status: 'incomplete' })),
      event('customer.subscription.updated', NOW, subscription()),
      event('invoice.paid', NOW, invoice({ status: 'paid', amount_paid: 4900, paid_at: NOW })),
      event('checkout.session.completed', NOW + 1, checkoutSession(claim)),
    ],
    [
      event('checkout.session.completed', NOW, checkoutSession(claim)),
      event('customer.subscription.created', NOW, subscription({ status: 'trialing', ...trial })),
      event(
        'customer.subscription.updated',
        NOW + 500,
        subscription({ price: 'price_business', ...trial }),
      ),
      event(
        'customer.subscription.deleted',
        NOW + 800,
        subscription({ price: 'price_business', ...ended }),
      ),
      event('invoice.voided', NOW + 800, invoice({ status: 'void' })),
    ],
    [
      event(
        'customer.updated',
        NOW + 5,
        customer({ metadata: { org_id: 'ORG' }, email: 'b@acme.test' }),
      ),
      event('customer.subscription.created', NOW, subscription()),
      event('customer.subscription.created', NOW + 700, subscription(next)),
      event(
        'customer.subscription.deleted',
        NOW + 800,
        subscription({ status: 'canceled', ended_at: NOW + 800 }),
      ),
      event('invoice.updated', NOW, invoice({ metadata: { of: 'one second' } })),
      event('invoice.updated', NOW, invoice({ metadata: { of: 'the same' } })),
    ],
  ]
}

interface Delivered {
  readonly order: readonly number[]
  /** `true` to send all events concurrently. */
  readonly atOnce?: boolean
  readonly storage?: Storage
}

async function endOf(story: readonly Json[], { order, atOnce, storage }: Delivered): Promise<Json> {
  const paying = await createPayingWorld(storage)
  const { world, tenant, team, business } = paying
  const send = async (index: number) => {
    const body = JSON.stringify(story[index]).replaceAll('ORG', tenant.orgId)
    expect((await deliver(world, body)).status).toBe(200)
  }
  if (atOnce === true) await Promise.all(order.map(send))
  else for (const index of order) await send(index)
  const state = JSON.stringify(await paying.state())
  await paying.stripe.close()
  const named = [
    [tenant.orgId, 'ORG'],
    [team.id, 'TEAM'],
    [business.id, 'BUSINESS'],
  ] as const
  return JSON.parse(named.reduce((text, [id, name]) => text.replaceAll(id, name), state))
}

describe.each(stories().map((story, index) => [index + 1, story] as const))(
  'Payment events, sequence %i',
  (_number, story) => {
    const order = story.map((_, index) => index)

    it('The result of payment events does not depend on their order or on repetitions', async () => {
      const expected = await endOf(story, { order })
      expect(expected.organization.paymentCustomerId).toBe('cus_1')
      const orders = fc.shuffledSubarray(order, { minLength: order.length })
      const sent = fc.tuple(orders, fc.array(fc.constantFrom(...order), { maxLength: 4 }))
      await fc.assert(
        fc.asyncProperty(sent, async ([first, again]) => {
          expect(await endOf(story, { order: [...first, ...again] })).toEqual(expected)
        }),
        { numRuns: runs(60) },
      )
    })

    it.each(stores)(
      'The result of payment events is the same if each is sent three times concurrently, in %s',
      async (_, open) => {
        const expected = await endOf(story, { order })
        const { storage, clean } = open()
        const all = [...order, ...[...order].reverse(), ...order]
        expect(await endOf(story, { order: all, atOnce: true, storage })).toEqual(expected)
        await storage.close()
        clean()
      },
    )
  },
)
