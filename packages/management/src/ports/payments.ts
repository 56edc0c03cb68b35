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

/** That something at the provider changed, and how it was right afterwards. */
export interface PaymentEvent {
  /** The provider's, the same however often it is delivered. */
  readonly id: string
  /** When it happened, to the second: a timestamp. */
  readonly occurredAt: string
  /** What changed; null for events that mean nothing here. */
  readonly subject: PaymentSubject | null
}

/** Something at the provider, which belongs to a customer there; ids are the provider's. */
export type PaymentSubject =
  | PaymentCustomer
  | PaymentCheckout
  | PaymentSubscription
  | PaymentInvoice

export interface PaymentCustomer {
  readonly type: 'customer'
  readonly id: string
  readonly customerId: string
  /** The organization that it says it is; null when it does not say. */
  readonly orgId: string | null
  readonly email: string | null
  readonly status: 'living' | 'deleted'
}

/** A completed checkout. */
export interface PaymentCheckout {
  readonly type: 'checkout'
  readonly id: string
  readonly customerId: string
  readonly orgId: string | null
  readonly status: 'completed'
}

export interface PaymentSubscription {
  readonly type: 'subscription'
  readonly id: string
  readonly customerId: string
  /**
   * `pending`: never paid for yet; `abandoned`: nor will it be. `overdue`: a payment failed and is
   * tried again; `suspended`: it is not tried any more.
   */
  readonly status: 'pending' | 'trial' | 'active' | 'overdue' | 'suspended' | 'abandoned' | 'ended'
  /** What is paid for. */
  readonly prices: readonly PaidPrice[]
  readonly createdAt: string
  readonly endedAt: string | null
  readonly trialStartsAt: string | null
  readonly trialEndsAt: string | null
}

export interface PaidPrice {
  readonly id: string
  /** The present period. */
  readonly periodStart: string
  readonly periodEnd: string
}

export interface PaymentInvoice {
  readonly type: 'invoice'
  readonly id: string
  readonly customerId: string
  readonly subscriptionId: string | null
  readonly status: 'draft' | 'open' | 'uncollectible' | 'void' | 'paid'
  /** In the smallest unit of the currency. */
  readonly amountDue: number
  readonly amountPaid: number
  /** Three letters, lower case. */
  readonly currency: string
  readonly invoicePdf: string | null
  readonly hostedInvoiceUrl: string | null
  readonly periodStart: string
  readonly periodEnd: string
  readonly dueDate: string | null
  readonly paidAt: string | null
  readonly metadata: Readonly<Record<string, string>>
}
