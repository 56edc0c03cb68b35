import type { PaymentEvent } from './payment-event.ts'

/**
 * A payment provider, such as `stripePayments` of `@ff/management/stripe`.
 *
 * What goes out throws `UNAVAILABLE` when the provider cannot be reached, `INVALID_REQUEST` when it
 * refuses.
 */
export interface Payments {
  /** Makes an organization known to the provider. The same key makes it only once. */
  createCustomer(customer: NewCustomer): Promise<{ readonly customerId: string }>
  /** A page of the provider's where a subscription is paid for. */
  createCheckout(order: CheckoutOrder): Promise<{ readonly url: string }>
  /** Puts an amount on the customer's next invoice. The same key charges only once. */
  chargeOverage(charge: OverageCharge): Promise<void>
  /**
   * What a signed message of the provider says. Throws `INVALID_REQUEST` for what the provider
   * has not signed, or signed too long before `now`.
   */
  parseEvent(delivery: PaymentDelivery): Promise<PaymentEvent>
}

export interface NewCustomer {
  readonly orgId: string
  readonly name: string
  readonly email: string | null
  readonly idempotencyKey: string
}

export interface CheckoutOrder {
  readonly orgId: string
  readonly customerId: string
  readonly priceId: string
  /** Days before the first payment; 0 for none. */
  readonly trialDays: number
  /** Where the provider redirects the browser afterwards; by default, to its configured URL. */
  readonly successUrl: string | undefined
  readonly cancelUrl: string | undefined
}

export interface OverageCharge {
  readonly customerId: string
  /** Euro cents. */
  readonly amountCents: number
  readonly description: string
  readonly idempotencyKey: string
}

/** A message as it came. */
export interface PaymentDelivery {
  /** Byte for byte: a body that was parsed and written again has another signature. */
  readonly rawBody: string
  readonly signature: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
}
