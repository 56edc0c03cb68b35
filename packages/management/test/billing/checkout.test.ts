import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stripePayments } from '../../src/stripe/stripe.ts'
import { type Answer, type Json, World } from '../world/world.ts'
import { FakeStripe } from './fake-stripe.ts'
import { createPayingWorld, type PayingWorld, paymentsWith } from './paying-world.ts'
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

describe('Checkouts', () => {
  let paying: PayingWorld
  let world: World

  beforeEach(async () => {
    paying = await createPayingWorld()
    world = paying.world
  })
  afterEach(() => paying.stripe.close())

  const checkout = (body: Json, headers: Record<string, string> = {}): Promise<Answer> => {
    const { orgId, tokens } = paying.tenant
    const address = `/billing/organizations/${orgId}/checkout`
    return world.call('POST', address, { token: tokens.owner, body, headers })
  }
  const sessions = () => paying.stripe.requestsTo('/v1/checkout/sessions')
  const customers = () => paying.stripe.requestsTo('/v1/customers')

  it('A checkout returns a page of Stripe for the price of the plan and the customer of the organization', async () => {
    const { team, tenant, organization } = paying
    const back = { success_url: 'https://app.test/paid?x=1', cancel_url: 'http://app.test/' }
    const answer = await checkout({ plan_id: team.id, interval: 'annual', ...back })
    expect(answer.status).toBe(201)
    expect(answer.data).toEqual({
      url: expect.stringMatching(/^https:\/\/checkout\.stripe\.test\//),
    })
    const { paymentCustomerId } = (await organization()) as Json
    expect(paymentCustomerId).toMatch(/^customers_/)
    expect(customers()).toMatchObject([
      { fields: { name: 'Acme', 'metadata[org_id]': tenant.orgId } },
    ])
    expect(sessions().map(({ fields }) => fields)).toEqual([
      {
        mode: 'subscription',
        customer: paymentCustomerId,
        client_reference_id: tenant.orgId,
        'metadata[org_id]': tenant.orgId,
        'line_items[0][price]': 'price_team_annual',
        'line_items[0][quantity]': '1',
        'subscription_data[metadata][org_id]': tenant.orgId,
        'subscription_data[trial_period_days]': '14',
        ...back,
      },
    ])
  })

  it('A checkout is monthly and returns to the configured URL by default', async () => {
    await checkout({ plan_id: paying.team.id })
    await checkout({ plan_id: paying.business.id })
    expect(sessions().map(({ fields }) => fields['line_items[0][price]'])).toEqual([
      'price_team',
      'price_business',
    ])
    for (const { fields } of sessions()) {
      expect(fields['success_url']).toBe('https://flags.acme.test/')
      expect(fields['cancel_url']).toBe('https://flags.acme.test/')
    }
  })

  it('Sixteen concurrent checkouts create one customer and one audit entry', async () => {
    const entries = async () => {
      const { orgId } = paying.tenant
      return (await world.storage.list('auditEvent', { where: { orgId } })).data
    }
    const before = (await entries()).length
    const body = { plan_id: paying.team.id }
    const answers = await Promise.all(Array.from({ length: 16 }, () => checkout(body)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(customers()).toHaveLength(1)
    expect(new Set(sessions().map(({ fields }) => fields['customer'])).size).toBe(1)
    const made = (await entries()).slice(before)
    expect(made.map(({ eventType }) => eventType)).toEqual(['organization.billing_updated'])
    await checkout(body)
    expect(customers()).toHaveLength(1)
    expect(await entries()).toHaveLength(before + 1)
  })

  it('A repeated checkout with an Idempotency-Key returns the same page', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await checkout({ plan_id: paying.team.id }, headers)
    expect((await checkout({ plan_id: paying.team.id }, headers)).text).toBe(first.text)
    const other = await checkout({ plan_id: paying.business.id }, headers)
    expect(other.status).toBe(409)
  })

  it('The events of Stripe after a checkout set the plan, the trial and the invoice', async () => {
    const { tenant, team, organization } = paying
    await checkout({ plan_id: team.id })
    const { paymentCustomerId: cus } = (await organization()) as Json
    const trial = { trial_start: NOW, trial_end: second('2030-01-15T00:00:00Z') }
    const fields = { customer: cus, metadata: { org_id: tenant.orgId } }
    const session = { ...fields, client_reference_id: tenant.orgId }
    for (const each of [
      event(
        'customer.subscription.created',
        NOW + 5,
        subscription({ ...fields, status: 'trialing', ...trial }),
      ),
      event(
        'invoice.paid',
        NOW + 5,
        invoice({ ...fields, status: 'paid', amount_due: 0, paid_at: NOW + 5 }),
      ),
      event('checkout.session.completed', NOW + 6, checkoutSession(session)),
    ]) {
      expect(await deliver(world, each)).toMatchObject({ status: 200, data: null })
    }
    const { tokens, orgId } = tenant
    const read = (path: string) => world.call('GET', path, { token: tokens.owner })
    expect((await read(`/organizations/${orgId}`)).data).toMatchObject({
      plan_id: team.id,
      trial_starts_at: '2030-01-01T00:00:00.000Z',
      trial_ends_at: '2030-01-15T00:00:00.000Z',
      has_used_paid_trial: true,
    })
    const { invoices } = (await read(`/billing/organizations/${orgId}/invoices`)).data
    expect(invoices).toMatchObject([{ org_id: orgId, stripe_invoice_id: 'in_1', status: 'paid' }])
    const again = await checkout({ plan_id: paying.business.id })
    expect(again).toMatchObject({ status: 409, data: null })
  })

  it('A checkout does not offer a second trial', async () => {
    await deliver(
      world,
      event('customer.created', NOW, customer({ metadata: { org_id: paying.tenant.orgId } })),
    )
    const ended = { status: 'canceled', trial_start: NOW, trial_end: NOW + 9, ended_at: NOW + 9 }
    await deliver(world, event('customer.subscription.deleted', NOW + 9, subscription(ended)))
    await checkout({ plan_id: paying.team.id })
    expect(sessions()[0]?.fields).toMatchObject({ customer: 'cus_1' })
    expect(sessions()[0]?.fields).not.toHaveProperty('subscription_data[trial_period_days]')
  })

  it('A checkout creates a new customer if the previous one was deleted at Stripe', async () => {
    await checkout({ plan_id: paying.team.id })
    const { paymentCustomerId: first } = (await paying.organization()) as Json
    await deliver(world, event('customer.deleted', NOW, customer({ id: first })))
    await checkout({ plan_id: paying.team.id })
    const { paymentCustomerId: second } = (await paying.organization()) as Json
    expect(second).not.toBe(first)
    expect(sessions().map(({ fields }) => fields['customer'])).toEqual([first, second])
  })

  it('A checkout for a plan without a price returns the product link with the id of the organization', async () => {
    const body = { name: 'Link', productLink: 'https://buy.stripe.test/abc?locale=de' }
    const { id } = await world.management.createPlan({ body })
    const { orgId } = paying.tenant
    const url = `https://buy.stripe.test/abc?locale=de&client_reference_id=${orgId}`
    expect((await checkout({ plan_id: id })).data).toEqual({ url })
    expect(paying.stripe.requests).toEqual([])
  })

  it.each<[string, (paying: PayingWorld) => Promise<Json> | Json, string]>([
    ['an unknown plan', () => ({ plan_id: crypto.randomUUID() }), 'plan_id'],
    [
      'a plan without a price or a link',
      async ({ world }) => ({
        plan_id: (await world.management.createPlan({ body: { name: 'Free' } })).id,
      }),
      'plan_id',
    ],
    [
      'an interval without a price',
      ({ business }) => ({ plan_id: business.id, interval: 'annual' }),
      'plan_id',
    ],
    ['an unknown interval', ({ team }) => ({ plan_id: team.id, interval: 'daily' }), 'interval'],
    [
      'a script as the success URL',
      ({ team }) => ({ plan_id: team.id, success_url: 'javascript:alert(1)' }),
      'success_url',
    ],
    [
      'a data URL as the cancel URL',
      ({ team }) => ({ plan_id: team.id, cancel_url: 'data:text/html,x' }),
      'cancel_url',
    ],
    [
      'a URL with a blank',
      ({ team }) => ({ plan_id: team.id, success_url: 'https://a.test/a b' }),
      'success_url',
    ],
  ])('A checkout is refused for %s', async (_what, bodyFor, path) => {
    const answer = await checkout(await bodyFor(paying))
    expect(answer).toMatchObject({ status: 400, data: { issues: [{ path }] } })
    expect(paying.stripe.requests).toEqual([])
  })

  it('Only owners can create a checkout', async () => {
    const { orgId, tokens } = paying.tenant
    const address = `/billing/organizations/${orgId}/checkout`
    const body = { plan_id: paying.team.id }
    for (const role of ['viewer', 'editor', 'admin'] as const) {
      expect((await world.call('POST', address, { token: tokens[role], body })).status).toBe(403)
    }
    expect(paying.stripe.requests).toEqual([])
  })

  describe('Checkouts while Stripe fails', () => {
    const expectUnchanged = async (work: () => Promise<Answer>, status: number) => {
      const before = [await paying.state(), await world.audit()]
      const answer = await work()
      expect(answer.status).toBe(status)
      expect(answer.text).not.toContain('secret detail')
      expect(answer.text).not.toContain('sk_test')
      expect([await paying.state(), await world.audit()]).toEqual(before)
    }

    it('If Stripe is unreachable, a checkout is refused with 503, changes nothing, and flags are evaluated', async () => {
      await paying.stripe.close()
      await expectUnchanged(() => checkout({ plan_id: paying.team.id }), 503)
      expect(await world.evaluate(paying.tenant.live)).toEqual({})
    })

    it('If Stripe fails, a checkout is refused with 503, and works when Stripe works again', async () => {
      paying.stripe.refusal = { status: 500, body: { error: { type: 'api_error' } } }
      await expectUnchanged(() => checkout({ plan_id: paying.team.id }), 503)
      paying.stripe.refusal = undefined
      expect((await checkout({ plan_id: paying.team.id })).status).toBe(201)
    })

    it('If Stripe does not have the price, a checkout is refused with 400', async () => {
      const body = { name: 'Typo', stripePriceId: 'price_unknown' }
      const { id } = await world.management.createPlan({ body })
      await expectUnchanged(() => checkout({ plan_id: id }), 400)
    })

    it('If Stripe rejects the secret key, a checkout is refused with 503', async () => {
      paying.stripe.refusal = { status: 401, body: { error: { message: 'secret detail: key' } } }
      await expectUnchanged(() => checkout({ plan_id: paying.team.id }), 503)
    })
  })
})

it('An overage is charged once per key, in euro cents, on the next invoice', async () => {
  const { stripe } = await createPayingWorld()
  const payments = paymentsWith(stripe)
  const charge = {
    customerId: 'cus_1',
    amountCents: 1234,
    description: '3 blocks of API calls',
    idempotencyKey: 'overage-1',
  }
  await Promise.all([payments.chargeOverage(charge), payments.chargeOverage(charge)])
  expect(stripe.requests).toEqual([
    {
      path: '/v1/invoiceitems',
      idempotencyKey: 'overage-1',
      fields: {
        customer: 'cus_1',
        amount: '1234',
        currency: 'eur',
        description: '3 blocks of API calls',
      },
    },
  ])
  await stripe.close()
  const late = payments.chargeOverage({ ...charge, idempotencyKey: 'overage-2' })
  await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

it('A checkout requires a success URL if Stripe is configured without one', async () => {
  const stripe = await FakeStripe.start()
  const { client } = stripe
  const payments = stripePayments({ client, webhookSecret: 'whsec_1' })
  const order = {
    orgId: crypto.randomUUID(),
    customerId: 'cus_1',
    priceId: 'price_1',
    trialDays: 0,
    cancelUrl: undefined,
  }
  const lost = payments.createCheckout({ ...order, successUrl: undefined })
  await expect(lost).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    details: { issues: [{ path: 'success_url' }] },
  })
  const { url } = await payments.createCheckout({ ...order, successUrl: 'https://a.test/' })
  expect(url).toContain('https://checkout.stripe.test/')
  expect(() => stripePayments({ client, webhookSecret: ' ' })).toThrow(/webhookSecret/)
  await stripe.close()
})

describe('Checkouts without a payment provider', () => {
  it('Without a payment provider, a checkout returns the product link, and events are refused', async () => {
    const world = await World.create()
    const { orgId, tokens } = await world.addTenant('Acme')
    const address = `/billing/organizations/${orgId}/checkout`
    const ask = (body: Json) => world.call('POST', address, { token: tokens.owner, body })
    const link = { name: 'Link', productLink: 'https://pay.test/x', stripePriceId: 'price_1' }
    const plan = await world.management.createPlan({ body: link })
    expect((await ask({ plan_id: plan.id })).data).toEqual({ url: 'https://pay.test/x' })
    const none = await world.management.createPlan({ body: { name: 'None' } })
    expect((await ask({ plan_id: none.id })).status).toBe(400)
    expect((await deliver(world, event('customer.created', NOW, customer()))).status).toBe(404)
  })
})
