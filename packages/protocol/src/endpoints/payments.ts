import * as z from 'zod'
import { checkoutCodec, newCheckoutCodec } from '../resources/checkout.ts'
import { creating, type Endpoint, noParams, organizationParams } from './endpoint.ts'

export const paymentEndpoints = {
  createCheckout: {
    ...creating,
    permission: 'billing.write',
    path: '/billing/organizations/{orgId}/checkout',
    params: organizationParams,
    body: newCheckoutCodec,
    response: checkoutCodec,
  },
  /** Signed by Stripe in the header `stripe-signature`; answered 200 so that it is not sent again. */
  receiveStripeEvent: {
    ...creating,
    permission: 'anyone',
    path: '/billing/webhooks/stripe',
    params: noParams,
    body: z.string(),
    rawBody: true,
    notes:
      'A signed event that can never be read is refused with 400: one with a missing field, a negative ' +
      'amount, or a link that is not `https:`.',
    maxBodyBytes: 1024 * 1024,
    status: 200,
    response: z.null(),
  },
} as const satisfies Record<string, Endpoint>
