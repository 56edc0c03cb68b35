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
  /** The organization that it says it is; `null` if it does not say. */
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

/** What is paid for, with its present period. */
const price = z.object({ id, periodStart: timestamp, periodEnd: timestamp })

const subscription = z.object({
  type: z.literal('subscription'),
  id,
  customerId: id,
  /**
   * `pending`: never paid for yet; `abandoned`: nor will it be. `overdue`: a payment failed and is
   * tried again; `suspended`: it is not tried any more.
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
  /** In the smallest unit of the currency. */
  amountDue: amount,
  amountPaid: amount,
  /** Three letters, lower case. */
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
  /** The provider's, the same however often it is delivered. */
  id,
  /** When it happened, to the second. */
  occurredAt: timestamp,
  /** What changed; `null` for events that mean nothing here. */
  subject: subject.nullable(),
})

/** A customer of the provider. */
export type PaymentCustomer = Readonly<z.output<typeof customer>>

/** A completed checkout. */
export type PaymentCheckout = Readonly<z.output<typeof checkout>>

/** A subscription, with the prices that are paid for. */
export type PaymentSubscription = Readonly<z.output<typeof subscription>>

/** An invoice of the provider. */
export type PaymentInvoice = Readonly<z.output<typeof invoice>>

/** An object of the provider, which belongs to a customer there; ids are the provider's. */
export type PaymentSubject = Readonly<z.output<typeof subject>>

/** That an object of the provider changed, and how it was right afterwards. */
export type PaymentEvent = Readonly<z.output<typeof paymentEvent>>

/** Returns how far an object has come, from 0: statuses are listed from the beginning to the end. */
export function rankOf({ type, status }: PaymentSubject): number {
  const statuses: readonly string[] = SUBJECTS[type].shape.status.options
  return statuses.indexOf(status)
}

/** Returns whether a text is the status of an invoice. */
export function isInvoiceStatus(text: string): text is PaymentInvoice['status'] {
  return invoice.shape.status.safeParse(text).success
}

/**
 * Throws `INVALID_REQUEST`, naming the field, for an event of the payment provider that can never be
 * taken in, such as one with a negative amount or a link that is not `https:`.
 */
export function assertReadableEvent(event: PaymentEvent): void {
  const issue = paymentEvent.safeParse(event).error?.issues[0]
  if (issue === undefined) return
  const field = issue.path.map(String).join('.')
  throw unreadableEvent(event.id, `${field}: ${issue.message}`)
}

/** The refusal of a signed event that can never be taken in, and why. */
export function unreadableEvent(eventId: unknown, fault: string): FlagError {
  const message = `The event ${String(eventId)} cannot be read: ${fault}.`
  return new FlagError('INVALID_REQUEST', message, { details: { eventId: String(eventId) } })
}
