import * as z from 'zod'
import { creating } from '../endpoint.ts'
import { record } from '../record.ts'
import { email, id } from '../scalars.ts'

const address = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2048)
  .regex(/^[\x21-\x7e]*$/, 'must not contain spaces, control characters or letters beyond ASCII')

/** A request to start a checkout. */
export type NewCheckout = z.output<typeof newCheckoutCodec>

/** The codec of `NewCheckout`. */
export const newCheckoutCodec = record({
  planId: id,
  /** The billing interval; the default is `monthly`. */
  interval: z.enum(['monthly', 'annual']).optional(),
  /** The return addresses after payment and after cancellation. */
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
  /** Signed by Stripe in the header `stripe-signature`; answered 200 so that it is not sent again. */
  receiveStripeEvent: creating('/billing/webhooks/stripe', {
    permission: 'anyone',
    body: z.string(),
    rawBody: true,
    notes:
      'A signed event that can never be read is refused with 400: one with a missing field, a negative ' +
      'amount, or a link that is not `https:`.',
    maxBodyBytes: 1024 * 1024,
    status: 200,
    response: z.null(),
  }),
}
