import type { PaymentEvent } from './payment-event.ts'

/**
 * A payment provider, such as `stripePayments` of `@ff/management/stripe`.
 *
 * The methods that send a request throw `UNAVAILABLE` if the provider cannot be reached, and
 * `INVALID_REQUEST` if it rejects the request.
 */
export interface Payments {
  /**
   * Creates a customer for an organization. Repeated calls with the same idempotency key create
   * only one customer.
   */
  createCustomer(customer: NewCustomer): Promise<{ readonly customerId: string }>
  /**
   * Creates a checkout session. Returns the URL of the provider's page on which a user can pay for
   * a subscription.
   */
  createCheckout(order: CheckoutOrder): Promise<{ readonly url: string }>
  /**
   * Adds an amount to the customer's next invoice. Repeated calls with the same idempotency key
   * charge the amount only one time.
   */
  chargeOverage(charge: OverageCharge): Promise<void>
  /**
   * Verifies and parses a signed message of the provider. Throws `INVALID_REQUEST` if the signature
   * is not valid or was created too long before `now`.
   */
  parseEvent(delivery: PaymentDelivery): Promise<PaymentEvent>
}

/** The input of `createCustomer`. */
export interface NewCustomer {
  readonly orgId: string
  readonly name: string
  readonly email: string | null
  readonly idempotencyKey: string
}

/** The input of `createCheckout`. */
export interface CheckoutOrder {
  readonly orgId: string
  readonly customerId: string
  readonly priceId: string
  /** Days of free trial before the first payment; 0 for no trial. */
  readonly trialDays: number
  /** The URL to redirect the browser to after the payment; by default, the configured URL. */
  readonly successUrl: string | undefined
  /** The URL to redirect the browser to if the user cancels; by default, the configured URL. */
  readonly cancelUrl: string | undefined
}

/** The input of `chargeOverage`. */
export interface OverageCharge {
  readonly customerId: string
  /** The amount in euro cents. */
  readonly amountCents: number
  readonly description: string
  readonly idempotencyKey: string
}

/** A message of the provider as it was received. */
export interface PaymentDelivery {
  /** The unchanged body: if it were parsed and serialised again, the signature would not match. */
  readonly rawBody: string
  readonly signature: string | undefined
  /** The current time in milliseconds since the epoch. */
  readonly now: number
}
