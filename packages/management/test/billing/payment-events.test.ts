import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { billingJob } from '../../src/billing/billing-job.ts'
import { repeating } from '../world/stores.ts'
import { type Json, World } from '../world/world.ts'
import { createPayingWorld, type PayingWorld, paymentsWith } from './paying-world.ts'
import {
  checkoutSession,
  customer,
  deliver,
  event,
  invoice,
  second,
  signatureOf,
  subscription,
  WEBHOOK_SECRET,
} from './stripe-events.ts'

const NOW = second('2030-01-01T00:00:00Z')
const DAY = 24 * 60 * 60
const DAY_MS = DAY * 1000

let paying: PayingWorld
let world: World
/** The event that makes `cus_1` the customer of the organization. */
let claim: Json

beforeEach(async () => {
  paying = await createPayingWorld()
  world = paying.world
  claim = event('customer.created', NOW, customer({ metadata: { org_id: paying.tenant.orgId } }))
})
afterEach(() => paying.stripe.close())

const snapshot = async () => [
  await paying.state(),
  await world.audit(),
  (await world.storage.list('paymentEvent', {})).data,
]

async function send(...events: readonly Json[]): Promise<void> {
  for (const each of events) expect((await deliver(world, each)).status).toBe(200)
}

describe('Refused deliveries', () => {
  const refused = async (work: () => ReturnType<typeof deliver>, status = 400) => {
    const before = await snapshot()
    const answer = await work()
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain(WEBHOOK_SECRET)
    expect(await snapshot()).toEqual(before)
  }

  it('A delivery is refused if its body was altered by one byte, or serialized again', async () => {
    const body = JSON.stringify(claim, null, 2)
    const signature = signatureOf(body, world.clock.now())
    const altered = [
      `${body} `,
      body.slice(1),
      body.replace('cus_1', 'cus_2'),
      JSON.stringify(claim),
    ]
    for (const each of [...altered, `\ufeff${body}`, body.replaceAll('\n', '\r\n')]) {
      await refused(() => deliver(world, each, { signature }))
    }
    expect((await deliver(world, body, { signature })).status).toBe(200)
  })

  it('A delivery is refused if it was signed with another secret, or not at all', async () => {
    await refused(() => deliver(world, claim, { secret: 'whsec_other' }))
    const body = JSON.stringify(claim)
    const [time = ''] = signatureOf(body, world.clock.now()).split(',')
    const headers = [null, '', 'garbage', 't=1', time, `${time},v1=`, `${time},v0=00`, 'v1=00']
    for (const signature of headers) await refused(() => deliver(world, body, { signature }))
  })

  it('A delivery is refused more than five minutes after it was signed, so that it cannot be replayed', async () => {
    const signedAt = world.clock.now()
    const body = JSON.stringify(claim)
    const signature = signatureOf(body, signedAt)
    await refused(() => deliver(world, claim, { signedAt: signedAt - 301_000 }))
    world.clock.set(signedAt + 301_000)
    await refused(() => deliver(world, body, { signature }))
    // The signature does not match a later time.
    const younger = signature.replace(/t=\d+/, `t=${(signedAt + 301_000) / 1000}`)
    await refused(() => deliver(world, body, { signature: younger }))
    world.clock.set(signedAt + 300_000)
    expect((await deliver(world, body, { signature })).status).toBe(200)
  })

  it('A signed delivery is refused if it is not JSON, or is larger than one mebibyte', async () => {
    await refused(() => deliver(world, 'not JSON'))
    const large = { ...claim, pad: 'x'.repeat(1024 * 1024) }
    await refused(() => deliver(world, large), 413)
    const bytes = new Uint8Array([0xff, 0xfe])
    const headers = { 'stripe-signature': 't=1,v1=00' }
    const post = () => world.call('POST', '/billing/webhooks/stripe', { body: bytes, headers })
    await refused(post)
  })
})

describe('Accepted deliveries', () => {
  it('A delivery is accepted if one of several signatures is valid, as while a secret is replaced', async () => {
    const body = JSON.stringify(claim)
    const at = world.clock.now()
    const [, other] = signatureOf(body, at, 'whsec_other').split(',')
    const [time, right] = signatureOf(body, at).split(',')
    const signature = `${time},${other},${right},v0=abc`
    expect((await deliver(world, body, { signature })).status).toBe(200)
  })

  it('A delivery is accepted if its text is not ASCII', async () => {
    await send(claim, event('customer.updated', NOW + 1, customer({ name: 'Käse 漢字 😀' })))
  })

  it('A delivery is accepted without a bearer token and with any token', async () => {
    const body = JSON.stringify(claim)
    const headers = { 'stripe-signature': signatureOf(body, world.clock.now()) }
    const post = { body, headers, token: 'anything' }
    expect((await world.call('POST', '/billing/webhooks/stripe', post)).status).toBe(200)
  })

  it('A delivery of an unknown type is accepted and ignored', async () => {
    const before = await snapshot()
    await send(
      event('payout.paid', NOW, { id: 'po_1', object: 'payout' }),
      event('some.new.thing', NOW, {}),
      event('customer.subscription.updated', NOW, subscription({ status: 'unheard_of' })),
      event('checkout.session.completed', NOW, checkoutSession({ customer: null })),
    )
    expect(await snapshot()).toEqual(before)
  })
})

describe('Repeated and late events', () => {
  it('An event is applied once, even if it is delivered several times and concurrently', async () => {
    await send(claim)
    const paid = event('invoice.paid', NOW + 2, invoice({ status: 'paid', amount_paid: 4900 }))
    const answers = await Promise.all(Array.from({ length: 16 }, () => deliver(world, paid)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const after = await snapshot()
    const types = (await world.audit()).map(({ eventType }) => eventType)
    expect(types.filter((type) => type.startsWith('invoice.'))).toEqual(['invoice.paid'])
    world.clock.set(world.clock.now() + DAY_MS)
    await send(claim, paid, paid, claim)
    expect(await snapshot()).toEqual(after)
  })

  it('A repeated event does not undo a later change', async () => {
    const { orgId } = paying.tenant
    const active = event('customer.subscription.created', NOW, subscription())
    await send(claim, active)
    await world.storage.update('organization', orgId, { planId: paying.business.id })
    await send(active, claim)
    expect((await paying.organization()).planId).toBe(paying.business.id)
  })

  it('An event that is older than the stored one changes nothing', async () => {
    const older = event('invoice.updated', NOW + 1, invoice({ amount_due: 1 }))
    await send(claim, event('invoice.updated', NOW + 2, invoice({ amount_due: 2 })))
    const before = await snapshot()
    await send(older)
    expect(await snapshot()).toEqual(before)
  })

  it.each([
    ['invoice', 'open', 'paid', invoice],
    ['invoice', 'draft', 'open', invoice],
    ['invoice', 'open', 'void', invoice],
    ['subscription', 'active', 'canceled', subscription],
    ['subscription', 'incomplete', 'active', subscription],
    ['subscription', 'trialing', 'active', subscription],
  ])(
    'Of two events of one second about the same %s, the status %s is replaced by %s',
    async (kind, from, to, make) => {
      const first = event(
        `${kind === 'invoice' ? 'invoice' : 'customer.subscription'}.updated`,
        NOW,
        make({ status: from }),
      )
      const then = { ...first, id: 'evt_0', data: { object: make({ status: to, ended_at: NOW }) } }
      const states: Json[] = []
      for (const order of [
        [first, then],
        [then, first],
      ]) {
        const own = await createPayingWorld()
        const payer = customer({ metadata: { org_id: own.tenant.orgId } })
        await deliver(own.world, event('customer.created', NOW, payer))
        for (const each of order) await deliver(own.world, each)
        const { organization, invoices } = await own.state()
        states.push([
          organization.planId === own.team.id,
          organization.trialEndsAt,
          invoices[0]?.status,
        ])
        await own.stripe.close()
      }
      expect(states[0]).toEqual(states[1])
      if (kind === 'invoice') expect(states[0][2]).toBe(to)
      else expect(states[0][0]).toBe(to === 'active')
    },
  )
})

describe('Events of unknown customers', () => {
  const early = () => [
    event('invoice.paid', NOW + 1, invoice({ status: 'paid', paid_at: NOW + 1 })),
    event('customer.subscription.created', NOW + 1, subscription()),
  ]

  it('An event of an unknown customer is stored, and applied when a checkout names the organization', async () => {
    const before = await paying.state()
    await send(...early())
    expect(await paying.state()).toEqual(before)
    const reference = { client_reference_id: paying.tenant.orgId }
    await send(event('checkout.session.completed', NOW + 2, checkoutSession(reference)))
    const { organization, invoices } = await paying.state()
    expect(organization).toMatchObject({ planId: paying.team.id, paymentCustomerId: 'cus_1' })
    expect(invoices).toMatchObject([{ status: 'paid' }])
  })

  it('An event of an unknown customer is deleted after a week', async () => {
    await send(...early())
    world.clock.set(world.clock.now() + 7 * DAY_MS + 1)
    await send(event('customer.created', NOW, customer({ id: 'cus_2' })))
    const { data } = await world.storage.list('paymentEvent', {})
    expect(data.map(({ id }) => id)).toEqual(['cus_2'])
  })

  it('An event is not applied if it names an unknown or deleted organization, or a malformed id', async () => {
    const { orgId } = await world.addTenant('Gone')
    const { tokens } = paying.tenant
    await world.call('DELETE', `/organizations/${orgId}`, { token: tokens.platform })
    const before = await paying.state()
    for (const reference of [crypto.randomUUID(), orgId, '', 'x', "'; drop table", 'a\0b']) {
      const fields = { client_reference_id: reference }
      await send(event('checkout.session.completed', NOW, checkoutSession(fields)))
    }
    expect(await paying.state()).toEqual(before)
  })

  it('A customer does not replace another customer that pays for the organization', async () => {
    await send(claim, event('customer.subscription.created', NOW, subscription()))
    const before = await paying.state()
    const theirs = { customer: 'cus_2', client_reference_id: paying.tenant.orgId }
    const cheap = { id: 'sub_2', customer: 'cus_2', price: 'price_business', created: NOW + DAY }
    await send(
      event('checkout.session.completed', NOW + DAY, checkoutSession({ id: 'cs_2', ...theirs })),
      event('customer.subscription.created', NOW + DAY, subscription(cheap)),
      event(
        'customer.subscription.deleted',
        NOW + DAY,
        subscription({ ...cheap, status: 'canceled' }),
      ),
    )
    expect(await paying.state()).toEqual(before)
  })

  it('An event is not settled if another customer begins to pay before the transaction runs again', async () => {
    const { storage } = world
    const orgId = paying.tenant.orgId
    const owner = { customer: 'cus_2', client_reference_id: orgId }
    const theirs = [
      event('checkout.session.completed', NOW, checkoutSession({ ...owner, id: 'cs_2' })),
      event('customer.subscription.created', NOW, subscription({ ...owner, id: 'sub_2' })),
    ]
    let isFirst = true
    const interrupted = repeating(storage, async (lock) => {
      if (lock !== orgId || !isFirst) return
      isFirst = false
      await send(...theirs)
    })
    const another = await World.create(interrupted, { payments: paymentsWith(paying.stripe) })
    expect((await deliver(another, claim)).status).toBe(200)
    expect(await paying.organization()).toMatchObject({ paymentCustomerId: 'cus_2' })
    const ours = await storage.find('paymentEvent', 'cus_1')
    expect(ours).toMatchObject({ customerId: 'cus_1', settledEventId: null })
  })

  it('A customer replaces another customer if the subscription of the other one has ended', async () => {
    const ended = { status: 'canceled', ended_at: NOW + DAY }
    await send(claim, event('customer.subscription.deleted', NOW + DAY, subscription(ended)))
    const theirs = { customer: 'cus_2', client_reference_id: paying.tenant.orgId }
    const next = { id: 'sub_2', customer: 'cus_2', price: 'price_business', created: NOW + 2 * DAY }
    await send(
      event('customer.subscription.created', NOW + 2 * DAY, subscription(next)),
      event(
        'checkout.session.completed',
        NOW + 2 * DAY,
        checkoutSession({ id: 'cs_2', ...theirs }),
      ),
    )
    const { organization } = await paying.state()
    expect(organization).toMatchObject({ planId: paying.business.id, paymentCustomerId: 'cus_2' })
  })
})

describe('Applied events', () => {
  beforeEach(() => send(claim))

  it('An event of a customer updates the customer and the billing address of the organization', async () => {
    expect(await paying.organization()).toMatchObject({ billingEmail: 'pay@acme.test' })
    await send(event('customer.updated', NOW + 1, customer({ email: 'new@acme.test' })))
    expect(await paying.organization()).toMatchObject({ billingEmail: 'new@acme.test' })
    for (const [later, email] of [
      [2, 'no address'],
      [3, null],
    ] as const) {
      await send(event('customer.updated', NOW + later, customer({ email })))
    }
    expect(await paying.organization()).toMatchObject({ billingEmail: 'new@acme.test' })
    const where = { orgId: paying.tenant.orgId }
    const [entry] = (await world.storage.list('auditEvent', { where })).data.slice(-1)
    expect(entry).toMatchObject({
      eventType: 'organization.billing_updated',
      streamId: `organization:${paying.tenant.orgId}`,
      actor: { id: 'stripe', email: '', name: 'Stripe', role: 'owner' },
      payload: {
        before: { customer_id: 'cus_1', billing_email: 'pay@acme.test' },
        after: { customer_id: 'cus_1', billing_email: 'new@acme.test' },
      },
    })
  })

  it.each([
    ['active', true],
    ['past_due', true],
    ['incomplete', false],
    ['incomplete_expired', false],
  ])('A subscription with the status %s sets the plan: %s', async (status, has) => {
    await send(event('customer.subscription.created', NOW, subscription({ status })))
    expect(await paying.organization()).toMatchObject({
      planId: has ? paying.team.id : null,
      periodStart: has ? '2030-01-01T00:00:00.000Z' : null,
      currentPeriodEnd: has ? '2030-02-01T00:00:00.000Z' : null,
      trialEndsAt: null,
      hasUsedPaidTrial: false,
    })
  })

  it('A trial sets the plan and the times of the trial, and the subscription after it begins a period', async () => {
    const trial = { trial_start: NOW, trial_end: NOW + 14 * DAY }
    const trialing = subscription({ status: 'trialing', ...trial })
    await send(event('customer.subscription.created', NOW, trialing))
    expect(await paying.organization()).toMatchObject({
      planId: paying.team.id,
      trialStartsAt: '2030-01-01T00:00:00.000Z',
      trialEndsAt: '2030-01-15T00:00:00.000Z',
      currentPeriodEnd: null,
      hasUsedPaidTrial: true,
    })
    world.clock.set(world.clock.now() + 14 * DAY_MS)
    await send(event('customer.subscription.updated', NOW + 14 * DAY, subscription(trial)))
    expect(await paying.organization()).toMatchObject({
      planId: paying.team.id,
      trialStartsAt: null,
      trialEndsAt: null,
      currentPeriodEnd: '2030-02-01T00:00:00.000Z',
      hasUsedPaidTrial: true,
    })
  })

  it('After a canceled trial, changes are refused except for payments', async () => {
    const trial = { trial_start: NOW, trial_end: NOW + 14 * DAY }
    const ended = { status: 'canceled', ended_at: NOW + DAY, ...trial }
    await send(event('customer.subscription.deleted', NOW + DAY, subscription(ended)))
    world.clock.set(world.clock.now() + DAY_MS)
    const { tokens, orgId } = paying.tenant
    const post = (address: string, body: Json) =>
      world.call('POST', address, { token: tokens.owner, body })
    expect((await post(`/organizations/${orgId}/projects`, { key: 'new' })).status).toBe(403)
    const pay = { plan_id: paying.team.id }
    expect((await post(`/billing/organizations/${orgId}/checkout`, pay)).status).toBe(201)
    const next = { id: 'sub_2', created: NOW + DAY }
    await send(event('customer.subscription.created', NOW + DAY, subscription(next)))
    expect((await post(`/organizations/${orgId}/projects`, { key: 'new' })).status).toBe(201)
  })

  it('A renewal closes the period once, regardless of the order of events and of clock differences', async () => {
    const { orgId } = paying.tenant
    const [start, end] = [second('2030-02-01T00:00:00Z'), second('2030-03-01T00:00:00Z')]
    const renewed = subscription()
    Object.assign(renewed.items.data[0], { current_period_start: start, current_period_end: end })
    const [renewal, again] = [1, 2].map((later) =>
      event('customer.subscription.updated', start + later, renewed),
    )
    await send(event('customer.subscription.created', NOW, subscription()))
    await world.storage.update('organization', orgId, { apiUsage: 7 })
    // One second before the renewal by the clock of the server.
    world.clock.set(start * 1000 - 1000)
    await send(renewal)
    const expected = {
      apiUsage: 0,
      periodStart: '2030-02-01T00:00:00.000Z',
      currentPeriodEnd: '2030-03-01T00:00:00.000Z',
    }
    expect(await paying.organization()).toMatchObject(expected)
    world.clock.set(start * 1000 + 60_000)
    await billingJob(world.services, paymentsWith(paying.stripe)).run()
    await send(again)
    expect(await paying.organization()).toMatchObject(expected)
    const entries = await world.storage.list('auditEvent', { where: { orgId } })
    const charged = entries.data.filter(({ eventType }) => eventType === 'invoice.charged')
    expect(charged).toMatchObject([
      {
        payload: { before: { metadata: { api_usage: 7 }, period_end: '2030-02-01T00:00:00.000Z' } },
      },
    ])
  })

  it('A paid year is divided into monthly periods', async () => {
    const year = subscription({ price: 'price_team_annual' })
    const end = second('2031-01-01T00:00:00Z')
    Object.assign(year.items.data[0], { current_period_end: end })
    world.clock.set(Date.parse('2030-05-20T00:00:00Z'))
    await send(event('customer.subscription.created', NOW, year))
    expect(await paying.organization()).toMatchObject({
      planId: paying.team.id,
      periodStart: '2030-05-01T00:00:00.000Z',
      currentPeriodEnd: '2030-06-01T00:00:00.000Z',
    })
  })

  it.each(['canceled', 'unpaid', 'paused'])(
    'A subscription with the status %s ends the plan',
    async (status) => {
      await send(event('customer.subscription.created', NOW, subscription()))
      const over = { status, ended_at: status === 'canceled' ? NOW + DAY : null }
      await send(event('customer.subscription.updated', NOW + DAY, subscription(over)))
      expect(await paying.organization()).toMatchObject({
        planId: null,
        currentPeriodEnd: null,
        trialEndsAt: '2030-01-02T00:00:00.000Z',
      })
    },
  )

  it('A subscription with another price and period changes the plan', async () => {
    await send(
      event('customer.subscription.created', NOW, subscription({ price: 'price_team_annual' })),
    )
    expect(await paying.organization()).toMatchObject({ planId: paying.team.id })
    await send(
      event('customer.subscription.updated', NOW + 1, subscription({ price: 'price_business' })),
    )
    expect(await paying.organization()).toMatchObject({ planId: paying.business.id })
  })

  it('The newest living subscription determines the plan, regardless of the others', async () => {
    const next = { id: 'sub_2', price: 'price_business', created: NOW + DAY }
    const ended = { status: 'canceled', ended_at: NOW + DAY + 1 }
    await send(
      event('customer.subscription.created', NOW + DAY, subscription(next)),
      event('customer.subscription.created', NOW, subscription()),
      event('customer.subscription.deleted', NOW + DAY + 1, subscription(ended)),
    )
    expect(await paying.organization()).toMatchObject({ planId: paying.business.id })
  })

  it('A subscription with a price that belongs to no plan changes nothing', async () => {
    const before = await paying.state()
    await send(event('customer.subscription.created', NOW, subscription({ price: 'price_mugs' })))
    expect(await paying.state()).toEqual(before)
  })

  it('A subscription in the format of older versions of the API is applied', async () => {
    const { items, ...rest } = subscription()
    const data = [{ id: 'si_1', price: { id: 'price_team' } }]
    const period = { current_period_start: NOW, current_period_end: NOW + 30 * DAY }
    await send(event('customer.subscription.created', NOW, { ...rest, items: { data }, ...period }))
    expect(await paying.organization()).toMatchObject({
      planId: paying.team.id,
      currentPeriodEnd: '2030-01-31T00:00:00.000Z',
    })
  })

  it('An invoice is updated by each event from its draft to its payment [INV-2] [INV-5]', async () => {
    const { tenant } = paying
    await send(event('invoice.created', NOW, invoice({ status: 'draft', invoice_pdf: undefined })))
    await send(event('invoice.finalized', NOW + 1, invoice({ due_date: NOW + DAY })))
    await send(event('invoice.payment_failed', NOW + 2, invoice({ due_date: NOW + DAY })))
    const paid = { status: 'paid', amount_paid: 4900, paid_at: NOW + 3, due_date: NOW + DAY }
    await send(event('invoice.paid', NOW + 3, invoice(paid)))
    const address = `/billing/organizations/${tenant.orgId}/invoices`
    const { data } = await world.call('GET', address, { token: tenant.tokens.owner })
    expect(data.invoices).toEqual([
      {
        id: expect.any(String),
        org_id: tenant.orgId,
        stripe_invoice_id: 'in_1',
        stripe_subscription_id: 'sub_1',
        amount_due: 4900,
        amount_paid: 4900,
        currency: 'eur',
        status: 'paid',
        invoice_pdf: 'https://pay.stripe.test/in_1.pdf',
        hosted_invoice_url: 'https://pay.stripe.test/in_1',
        period_start: '2030-01-01T00:00:00.000Z',
        period_end: '2030-02-01T00:00:00.000Z',
        due_date: '2030-01-02T00:00:00.000Z',
        paid_at: '2030-01-01T00:00:03.000Z',
        metadata: { campaign: 'spring' },
        created_at: expect.any(String),
        updated_at: expect.any(String),
        deleted_at: null,
        revision: 3,
      },
    ])
    const types = (await world.audit()).map(({ eventType }) => eventType)
    expect(types.filter((type) => type.startsWith('invoice.'))).toEqual([
      'invoice.created',
      'invoice.updated',
      'invoice.paid',
    ])
  })

  it.each(['void', 'uncollectible'])(
    'An invoice is updated if its status becomes %s',
    async (status) => {
      await send(event('invoice.created', NOW, invoice()))
      await send(event('invoice.updated', NOW + 1, invoice({ status })))
      expect((await paying.state()).invoices).toMatchObject([{ status }])
    },
  )
})
