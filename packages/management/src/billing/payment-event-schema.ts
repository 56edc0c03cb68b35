import { FlagError } from '@ff/core'
import * as z from 'zod'
import type { PaymentEvent, PaymentSubject } from '../ports/payments.ts'

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
  orgId,
  email: z.string().max(512).nullable(),
  status: z.enum(['living', 'deleted']),
})

const checkout = z.object({
  type: z.literal('checkout'),
  id,
  customerId: id,
  orgId,
  status: z.literal('completed'),
})

const price = z.object({ id, periodStart: timestamp, periodEnd: timestamp })

const subscription = z.object({
  type: z.literal('subscription'),
  id,
  customerId: id,
  status: z.enum(['pending', 'trial', 'active', 'overdue', 'suspended', 'abandoned', 'ended']),
  prices: z.array(price).max(100),
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
  amountDue: amount,
  amountPaid: amount,
  currency: z.string().regex(/^[a-z]{3}$/),
  invoicePdf: link,
  hostedInvoiceUrl: link,
  periodStart: timestamp,
  periodEnd: timestamp,
  dueDate: timestampOrNull,
  paidAt: timestampOrNull,
  metadata: z.record(z.string(), z.string()),
})

const subject: z.ZodType<PaymentSubject> = z.discriminatedUnion('type', [
  customer,
  checkout,
  subscription,
  invoice,
])

const paymentEvent = z.object({ id, occurredAt: timestamp, subject: subject.nullable() })

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
