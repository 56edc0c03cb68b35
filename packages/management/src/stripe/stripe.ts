import { FlagError } from '@ff/core'
import type Stripe from 'stripe'
import { type PaymentEvent, unreadableEvent } from '../ports/payment-event.ts'
import type { CheckoutOrder, Payments } from '../ports/payments.ts'
import { invalid } from '../requests/validation.ts'
import { toPaymentEvent } from './to-payment-event.ts'

/** The options of `stripePayments`. */
export interface StripePaymentsOptions {
  /** The Stripe client, created by the host with `new Stripe(key)`. */
  readonly client: Stripe
  /** The signing secret (`whsec_…`) of the webhook endpoint that was set up for this server. */
  readonly webhookSecret: string
  /**
   * The default of `successUrl` and `cancelUrl`. Without `returnUrl`, each checkout requires a
   * `successUrl`.
   */
  readonly returnUrl?: string | undefined
}

/** The maximum age of a signed message. */
const TOLERANCE_SECONDS = 300
/** The time limit for a response of Stripe. It is short because a user is waiting. */
const TIMEOUT_MS = 8_000

/**
 * Creates a payment provider that uses Stripe. Throws `INVALID_REQUEST` if `webhookSecret` is
 * empty.
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
      callStripe(async () => {
        const fields = { name, ...(email !== null && { email }), metadata: { org_id: orgId } }
        const settings = { idempotencyKey, timeout: TIMEOUT_MS }
        return { customerId: (await client.customers.create(fields, settings)).id }
      }),
    createCheckout: async (order) => {
      const fields = toSession(order, options)
      return callStripe(async () => {
        const { url } = await client.checkout.sessions.create(fields, { timeout: TIMEOUT_MS })
        if (url === null) throw new Error('The checkout session has no URL.')
        return { url }
      })
    },
    chargeOverage: ({ customerId: customer, amountCents: amount, description, idempotencyKey }) =>
      callStripe(async () => {
        const fields = { customer, amount, currency: 'eur', description }
        await client.invoiceItems.create(fields, { idempotencyKey, timeout: TIMEOUT_MS })
      }),
    parseEvent: async ({ rawBody, signature, now }) => {
      const parts = [rawBody, signature ?? '', webhookSecret, TOLERANCE_SECONDS] as const
      const event = await client.webhooks
        .constructEventAsync(...parts, undefined, now)
        .catch(() => {
          throw invalid('stripe-signature', 'does not match the body or is older than five minutes')
        })
      return readEvent(event)
    },
  }
}

/**
 * Throws `INVALID_REQUEST` for an event of an unexpected shape, because a retry would fail again.
 */
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

/**
 * Throws `INVALID_REQUEST` if Stripe rejects the request, and `UNAVAILABLE` for any other error.
 */
async function callStripe<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (cause) {
    const error = cause as Partial<Stripe.errors.StripeError>
    if (error.type === 'StripeInvalidRequestError') {
      const message = `Stripe rejected the request: ${error.code ?? 'no error code'}.`
      throw new FlagError('INVALID_REQUEST', message, { cause })
    }
    const message = 'Stripe cannot be reached or returned an unexpected response.'
    throw new FlagError('UNAVAILABLE', message, { cause })
  }
}
