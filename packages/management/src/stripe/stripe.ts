import { FlagError } from '@ff/core'
import type Stripe from 'stripe'
import { type PaymentEvent, unreadableEvent } from '../ports/payment-event.ts'
import type { CheckoutOrder, Payments } from '../ports/payments.ts'
import { invalid } from '../requests/validation.ts'
import { toPaymentEvent } from './to-payment-event.ts'

export interface StripePaymentsOptions {
  /** The host's own `new Stripe(key)`. */
  readonly client: Stripe
  /** The signing secret (`whsec_…`) of the webhook endpoint that was set up for this server. */
  readonly webhookSecret: string
  /** The default of `successUrl` and `cancelUrl`; without it, a checkout must name its `successUrl`. */
  readonly returnUrl?: string | undefined
}

/** The longest age of a signed message. */
const TOLERANCE_SECONDS = 300
/** The longest wait for a response of Stripe; a user is waiting too. */
const TIMEOUT_MS = 8_000

/**
 * Creates payments that use Stripe.
 *
 * @example
 * const client = new Stripe(secretKey)
 * createFlagServer({ payments: stripePayments({ client, webhookSecret }) })
 */
export function stripePayments(options: StripePaymentsOptions): Payments {
  const { client, webhookSecret } = options
  if (webhookSecret.trim() === '') {
    throw new FlagError('INVALID_REQUEST', 'webhookSecret must not be empty.')
  }
  return {
    createCustomer: ({ orgId, name, email, idempotencyKey }) =>
      asking(async () => {
        const fields = { name, ...(email !== null && { email }), metadata: { org_id: orgId } }
        const settings = { idempotencyKey, timeout: TIMEOUT_MS }
        return { customerId: (await client.customers.create(fields, settings)).id }
      }),
    createCheckout: async (order) => {
      const fields = toSession(order, options)
      return asking(async () => {
        const { url } = await client.checkout.sessions.create(fields, { timeout: TIMEOUT_MS })
        if (url === null) throw new Error('a checkout session without an address')
        return { url }
      })
    },
    chargeOverage: ({ customerId: customer, amountCents: amount, description, idempotencyKey }) =>
      asking(async () => {
        const fields = { customer, amount, currency: 'eur', description }
        await client.invoiceItems.create(fields, { idempotencyKey, timeout: TIMEOUT_MS })
      }),
    parseEvent: async ({ rawBody, signature, now }) => {
      const parts = [rawBody, signature ?? '', webhookSecret, TOLERANCE_SECONDS] as const
      const event = await client.webhooks
        .constructEventAsync(...parts, undefined, now)
        .catch(() => {
          throw invalid('stripe-signature', 'does not fit the body, or is older than five minutes')
        })
      return readEvent(event)
    },
  }
}

/** A signed event of another shape comes again in the same shape: it is refused for good. */
function readEvent(event: Stripe.Event): PaymentEvent {
  try {
    return toPaymentEvent(event)
  } catch {
    throw unreadableEvent(event.id, `a field of ${event.type} is missing or of another type`)
  }
}

function toSession(
  { orgId, customerId, priceId, trialDays, successUrl, cancelUrl }: CheckoutOrder,
  { returnUrl }: StripePaymentsOptions,
): Stripe.Checkout.SessionCreateParams {
  const success_url = successUrl ?? returnUrl
  const cancel_url = cancelUrl ?? returnUrl
  if (success_url === undefined) throw invalid('success_url', 'is required by this server')
  const metadata = { org_id: orgId }
  const trial = trialDays > 0 ? { trial_period_days: trialDays } : {}
  return {
    mode: 'subscription',
    customer: customerId,
    client_reference_id: orgId,
    metadata,
    line_items: [{ price: priceId, quantity: 1 }],
    subscription_data: { metadata, ...trial },
    success_url,
    ...(cancel_url !== undefined && { cancel_url }),
  }
}

/** What Stripe refuses will be refused again; anything else may work later. */
async function asking<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (cause) {
    const error = cause as Partial<Stripe.errors.StripeError>
    if (error.type === 'StripeInvalidRequestError') {
      const message = `Stripe refuses this: ${error.code ?? 'an invalid request'}.`
      throw new FlagError('INVALID_REQUEST', message, { cause })
    }
    throw new FlagError('UNAVAILABLE', 'Stripe does not answer as it should.', { cause })
  }
}
