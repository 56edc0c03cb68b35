import * as z from 'zod'
import { creating } from '../endpoint.ts'
import { record } from '../record.ts'
import { email, id } from '../scalars.ts'

const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2048)
  .regex(/^[\x21-\x7e]*$/, 'must contain only visible ASCII characters')

/** A request to start a checkout. */
export type NewCheckout = z.output<typeof newCheckoutCodec>

/** The codec of `NewCheckout`. */
export const newCheckoutCodec = record({
  planId: id,
  /** The billing interval; the default is `monthly`. */
  interval: z.enum(['monthly', 'annual']).optional(),
  /**
   * The URLs to which the provider redirects after payment (`successUrl`) or cancellation
   * (`cancelUrl`).
   */
  successUrl: address.optional(),
  cancelUrl: address.optional(),
})

/** The checkout page of the payment provider. */
export type Checkout = z.output<typeof checkoutCodec>

/** The codec of `Checkout`. */
export const checkoutCodec = record({ url: z.string() })

/** The billing contact of an organization. */
export const billingCodec = record({
  /** The customer id at the payment provider; `null` if there is no customer. */
  customerId: z.string().nullable(),
  billingEmail: email.nullable(),
})

/** The endpoints of payments. */
export const paymentEndpoints = {
  createCheckout: creating('/billing/organizations/{orgId}/checkout', {
    permission: 'billing.write',
    body: newCheckoutCodec,
    response: checkoutCodec,
  }),
  /**
   * The header `stripe-signature` contains the signature of Stripe. Stripe repeats the event until
   * the response has a status of 2xx.
   */
  receiveStripeEvent: creating('/billing/webhooks/stripe', {
    permission: 'anyone',
    body: z.string(),
    rawBody: true,
    notes:
      'Called by Stripe. A signed event with invalid contents is refused with 400, for example ' +
      'if a field is missing, an amount is negative, or a link is not `https:`.',
    maxBodyBytes: 1024 * 1024,
    status: 200,
    response: z.null(),
  }),
}
