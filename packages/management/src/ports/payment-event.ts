import { FlagError } from '@ff/core'
import * as z from 'zod'

const id = z.string().min(1).max(255)
const orgId = z.string().max(255).nullable()
const timestamp = z.iso.datetime({ precision: 3 })
const timestampOrNull = timestamp.nullable()
const amount = z.int().min(0)
const link = z
  .url({ protocol: /^https$/ })
  .max(2048)
  .nullable()

const customer = z.object({
  type: z.literal('customer'),
  id,
  customerId: id,
  /** The organization that the customer's metadata names; `null` if it names none. */
  orgId,
  email: z.string().max(512).nullable(),
  status: z.enum(['living', 'deleted']),
})

const checkout = z.object({
  type: z.literal('checkout'),
  id,
  customerId: id,
  orgId,
  status: z.enum(['completed']),
})

/** A price of a subscription, with its current period. */
const price = z.object({ id, periodStart: timestamp, periodEnd: timestamp })

const subscription = z.object({
  type: z.literal('subscription'),
  id,
  customerId: id,
  /**
   * `pending`: the first payment is due; `abandoned`: the first payment was never made. `overdue`:
   * a payment failed and will be retried; `suspended`: a payment failed and will not be retried.
   */
  status: z.enum(['pending', 'trial', 'active', 'overdue', 'suspended', 'abandoned', 'ended']),
  prices: z.array(price).max(100).readonly(),
  createdAt: timestamp,
  endedAt: timestampOrNull,
  trialStartsAt: timestampOrNull,
  trialEndsAt: timestampOrNull,
})

const invoice = z.object({
  type: z.literal('invoice'),
  id,
  customerId: id,
  subscriptionId: id.nullable(),
  status: z.enum(['draft', 'open', 'uncollectible', 'void', 'paid']),
  /** The amount in the smallest unit of the currency, such as cents. */
  amountDue: amount,
  amountPaid: amount,
  /** The ISO 4217 code in lower case, such as `eur`. */
  currency: z.string().regex(/^[a-z]{3}$/),
  invoicePdf: link,
  hostedInvoiceUrl: link,
  periodStart: timestamp,
  periodEnd: timestamp,
  dueDate: timestampOrNull,
  paidAt: timestampOrNull,
  metadata: z.record(z.string(), z.string()),
})

const SUBJECTS = { customer, checkout, subscription, invoice } as const

const subject = z.discriminatedUnion('type', [customer, checkout, subscription, invoice])

const paymentEvent = z.object({
  /** The provider's id, which is the same for repeated deliveries of one event. */
  id,
  /** The time of the event, with a precision of one second. */
  occurredAt: timestamp,
  /** The changed object; `null` for events that are ignored. */
  subject: subject.nullable(),
})

/** A customer of the provider. */
export type PaymentCustomer = Readonly<z.output<typeof customer>>

/** A completed checkout. */
export type PaymentCheckout = Readonly<z.output<typeof checkout>>

/** A subscription with its prices. */
export type PaymentSubscription = Readonly<z.output<typeof subscription>>

/** An invoice of the provider. */
export type PaymentInvoice = Readonly<z.output<typeof invoice>>

/** An object of the provider that belongs to a customer. All its ids are the provider's. */
export type PaymentSubject = Readonly<z.output<typeof subject>>

/** A change of an object of the provider, with the state of the object after the change. */
export type PaymentEvent = Readonly<z.output<typeof paymentEvent>>

/** Returns the position of the object's status in its life cycle, from 0. */
export function rankOf({ type, status }: PaymentSubject): number {
  const statuses: readonly string[] = SUBJECTS[type].shape.status.options
  return statuses.indexOf(status)
}

/** Returns `true` if a text is the status of an invoice. */
export function isInvoiceStatus(text: string): text is PaymentInvoice['status'] {
  return invoice.shape.status.safeParse(text).success
}

/**
 * Throws `INVALID_REQUEST`, with the name of the field, if an event of the payment provider is not
 * valid, for example because an amount is negative or a link is not `https:`.
 */
export function assertReadableEvent(event: PaymentEvent): void {
  const issue = paymentEvent.safeParse(event).error?.issues[0]
  if (issue === undefined) return
  const field = issue.path.map(String).join('.')
  throw unreadableEvent(event.id, `${field}: ${issue.message}`)
}

/** Creates the error for a signed event that is not valid. Its message ends with `fault`. */
export function unreadableEvent(eventId: unknown, fault: string): FlagError {
  const message = `The event ${String(eventId)} cannot be read: ${fault}.`
  return new FlagError('INVALID_REQUEST', message, { details: { eventId: String(eventId) } })
}
