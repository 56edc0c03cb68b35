import Stripe from 'stripe'
import type { Payments } from '../../src/ports/payments.ts'
import { stripePayments } from '../../src/stripe/stripe.ts'
import type { Answer, Json, World } from '../world/world.ts'

export const WEBHOOK_SECRET = 'whsec_test_secret'

const { webhooks } = new Stripe('sk_test_fake')

/** The properties of a delivery. By default, the delivery is valid. */
export interface Delivery {
  readonly secret?: string
  /** The time of the signature in epoch milliseconds; by default the current time. */
  readonly signedAt?: number
  /** A signature instead of the valid one; `null` for none. */
  readonly signature?: string | null
}

/** Converts a timestamp to epoch seconds. */
export function second(timestamp: string): number {
  return Date.parse(timestamp) / 1000
}

export function signatureOf(payload: string, signedAt: number, secret = WEBHOOK_SECRET): string {
  const timestamp = Math.floor(signedAt / 1000)
  return webhooks.generateTestHeaderString({ payload, secret, timestamp })
}

/** Delivers an event to a world as Stripe does. */
export function deliver(
  world: World,
  event: Json,
  { secret = WEBHOOK_SECRET, signedAt = world.clock.now(), signature }: Delivery = {},
): Promise<Answer> {
  const body = typeof event === 'string' ? event : JSON.stringify(event, null, 2)
  const signed = signature === undefined ? signatureOf(body, signedAt, secret) : signature
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...(signed !== null && { 'stripe-signature': signed }),
  }
  return world.call('POST', '/billing/webhooks/stripe', { body, headers })
}

let events = 0

/** Returns an event with its time in epoch seconds, in the format of Stripe. */
export function event(type: string, created: number, object: Json): Json {
  events += 1
  const id = `evt_${String(events).padStart(6, '0')}`
  return { id, object: 'event', api_version: '2026-10-28.endive', created, type, data: { object } }
}

export function customer(fields: Json = {}): Json {
  return {
    id: 'cus_1',
    object: 'customer',
    email: 'pay@acme.test',
    name: 'Acme',
    metadata: {},
    ...fields,
  }
}

export function checkoutSession(fields: Json = {}): Json {
  return {
    id: 'cs_1',
    object: 'checkout.session',
    mode: 'subscription',
    status: 'complete',
    customer: 'cus_1',
    subscription: 'sub_1',
    client_reference_id: null,
    metadata: {},
    ...fields,
  }
}

/** Returns a subscription. `price` is the id of the price of its only item. */
export function subscription({ price = 'price_team', ...fields }: Json = {}): Json {
  const item = {
    id: 'si_1',
    object: 'subscription_item',
    price: { id: price, object: 'price' },
    quantity: 1,
    current_period_start: second('2030-01-01T00:00:00Z'),
    current_period_end: second('2030-02-01T00:00:00Z'),
  }
  return {
    id: 'sub_1',
    object: 'subscription',
    customer: 'cus_1',
    status: 'active',
    created: second('2030-01-01T00:00:00Z'),
    trial_start: null,
    trial_end: null,
    ended_at: null,
    items: { object: 'list', data: [item], has_more: false },
    metadata: {},
    ...fields,
  }
}

export function invoice({ paid_at = null, ...fields }: Json = {}): Json {
  return {
    id: 'in_1',
    object: 'invoice',
    customer: 'cus_1',
    status: 'open',
    amount_due: 4900,
    amount_paid: 0,
    currency: 'eur',
    invoice_pdf: 'https://pay.stripe.test/in_1.pdf',
    hosted_invoice_url: 'https://pay.stripe.test/in_1',
    period_start: second('2030-01-01T00:00:00Z'),
    period_end: second('2030-02-01T00:00:00Z'),
    due_date: null,
    status_transitions: { finalized_at: null, paid_at, voided_at: null },
    parent: {
      type: 'subscription_details',
      quote_details: null,
      subscription_details: { subscription: 'sub_1', metadata: {} },
    },
    metadata: { campaign: 'spring' },
    ...fields,
  }
}

/** A payment provider that receives events and cannot reach Stripe. */
export const offlinePayments: Payments = stripePayments({
  client: new Stripe('sk_test_fake', { host: '127.0.0.1', port: 9, protocol: 'http' }),
  webhookSecret: WEBHOOK_SECRET,
  returnUrl: 'https://flags.acme.test/',
})
