import type Stripe from 'stripe'
import {
  isInvoiceStatus,
  type PaymentCheckout,
  type PaymentCustomer,
  type PaymentEvent,
  type PaymentInvoice,
  type PaymentSubject,
  type PaymentSubscription,
} from '../ports/payment-event.ts'

/** Converts an event of Stripe. Throws a `TypeError` or `RangeError` if a field is missing. */
export function toPaymentEvent(event: Stripe.Event): PaymentEvent {
  return { id: event.id, occurredAt: timestampOf(event.created), subject: subjectOf(event) }
}

function subjectOf(event: Stripe.Event): PaymentSubject | null {
  switch (event.type) {
    case 'customer.created':
    case 'customer.updated':
      return toCustomer(event.data.object, 'living')
    case 'customer.deleted':
      return toCustomer(event.data.object, 'deleted')
    case 'checkout.session.completed':
      return toCheckout(event.data.object)
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
    case 'customer.subscription.deleted':
      return toSubscription(event.data.object)
    case 'invoice.created':
    case 'invoice.finalized':
    case 'invoice.updated':
    case 'invoice.paid':
    case 'invoice.payment_failed':
    case 'invoice.voided':
    case 'invoice.marked_uncollectible':
      return toInvoice(event.data.object)
    default:
      return null
  }
}

function toCustomer(
  { id, email, metadata }: Stripe.Customer,
  status: PaymentCustomer['status'],
): PaymentCustomer {
  const orgId = metadata['org_id'] ?? null
  return { type: 'customer', id, customerId: id, orgId, email, status }
}

function toCheckout(session: Stripe.Checkout.Session): PaymentCheckout | null {
  const { id, client_reference_id, metadata } = session
  const customerId = idOf(session.customer)
  if (customerId === null) return null
  const orgId = client_reference_id ?? metadata?.['org_id'] ?? null
  return { type: 'checkout', id, customerId, orgId, status: 'completed' }
}

const SUBSCRIPTION_STATUS: ReadonlyMap<string, PaymentSubscription['status']> = new Map([
  ['incomplete', 'pending'],
  ['trialing', 'trial'],
  ['active', 'active'],
  ['past_due', 'overdue'],
  ['unpaid', 'suspended'],
  ['paused', 'suspended'],
  ['incomplete_expired', 'abandoned'],
  ['canceled', 'ended'],
])

function toSubscription(subscription: Stripe.Subscription): PaymentSubscription | null {
  const { id, status, created, ended_at, items, trial_start, trial_end } = subscription
  const known = SUBSCRIPTION_STATUS.get(status)
  const customerId = idOf(subscription.customer)
  if (known === undefined || customerId === null) return null
  return {
    type: 'subscription',
    id,
    customerId,
    status: known,
    prices: items.data.map((item) => ({ id: item.price.id, ...periodOf(item, subscription) })),
    createdAt: timestampOf(created),
    endedAt: timestampOrNull(ended_at),
    trialStartsAt: timestampOrNull(trial_start),
    trialEndsAt: timestampOrNull(trial_end),
  }
}

/** Returns the period of an item. Older API versions send one period for the whole subscription. */
function periodOf(item: Partial<Period>, subscription: Stripe.Subscription & Partial<Period>) {
  const { current_period_start, current_period_end } = item
  return {
    periodStart: timestampOf(current_period_start ?? subscription.current_period_start),
    periodEnd: timestampOf(current_period_end ?? subscription.current_period_end),
  }
}

type Period = Pick<Stripe.SubscriptionItem, 'current_period_start' | 'current_period_end'>

function toInvoice(
  invoice: Stripe.Invoice & { readonly subscription?: string | null },
): PaymentInvoice | null {
  const { id, status, parent, status_transitions, metadata } = invoice
  const customerId = idOf(invoice.customer)
  if (customerId === null || status === null || !isInvoiceStatus(status)) return null
  return {
    type: 'invoice',
    id,
    customerId,
    // Older API versions send the subscription as a field of the invoice.
    subscriptionId: idOf(parent?.subscription_details?.subscription ?? invoice.subscription),
    status,
    amountDue: invoice.amount_due,
    amountPaid: invoice.amount_paid,
    currency: invoice.currency,
    invoicePdf: invoice.invoice_pdf ?? null,
    hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    periodStart: timestampOf(invoice.period_start),
    periodEnd: timestampOf(invoice.period_end),
    dueDate: timestampOrNull(invoice.due_date),
    paidAt: timestampOrNull(status_transitions.paid_at),
    metadata: metadata ?? {},
  }
}

/**
 * Returns the id of an object that Stripe sends either as an id or as a whole; `null` if absent.
 */
function idOf(thing: string | { readonly id: string } | null | undefined): string | null {
  return typeof thing === 'string' ? thing : (thing?.id ?? null)
}

function timestampOrNull(seconds: number | null | undefined): string | null {
  return seconds === null || seconds === undefined ? null : timestampOf(seconds)
}

/**
 * Converts seconds since the epoch. Throws a `RangeError` if the value is missing or not a number.
 */
function timestampOf(seconds: number | undefined): string {
  return new Date((seconds ?? Number.NaN) * 1000).toISOString()
}
