import type { Plan } from '@ff/protocol/management'
import type { LastPaymentEvent, Records } from '@ff/storage'
import {
  type ChangeEvent,
  type CompletedChange,
  changeEvent,
  completed,
} from '../changes/change-event.ts'
import type { RecordWriter } from '../changes/record-writer.ts'
import type {
  PaymentCustomer,
  PaymentInvoice,
  PaymentSubscription,
} from '../ports/payment-event.ts'
import { isEmail } from '../requests/validation.ts'
import { monthOf } from './billing-period.ts'
import {
  hasLapsed,
  isLiving,
  type LastSubscription,
  lastSubscriptions,
  subjectOf,
} from './payment-subjects.ts'
import { changePlan, closeDuePeriods } from './plan-change.ts'
import { priceIdsOf } from './plans.ts'

type Payer = Records['organization']

/** A change. Its result is `true`, or `false` if another customer pays for the organization. */
type Taken = Promise<CompletedChange<boolean>>

/** Updates an organization from the newest event about an object of the payment provider. */
export function takeIn(writer: RecordWriter, payer: Payer, last: LastPaymentEvent): Taken {
  const subject = subjectOf(last)
  switch (subject.type) {
    case 'customer':
      return takeCustomer(writer, payer, subject)
    case 'checkout':
      return takeCustomer(writer, payer, { customerId: subject.customerId, email: null })
    case 'subscription':
      return takeSubscription(writer, payer, subject)
    case 'invoice':
      return takeInvoice(writer, payer, subject)
  }
}

/** Returns the audit event of a change of the billing details. */
export function billingUpdated(before: Payer, after: Payer): ChangeEvent {
  const fieldsOf = ({ paymentCustomerId: customerId, billingEmail }: Payer) => {
    return { customerId, billingEmail }
  }
  const fields = { before: fieldsOf(before), after: fieldsOf(after) }
  return changeEvent('organization.billing_updated', before.id, fields)
}

async function takeCustomer(
  writer: RecordWriter,
  before: Payer,
  { customerId, email }: Pick<PaymentCustomer, 'customerId' | 'email'>,
): Taken {
  if (!(await mayPay(writer, before, customerId))) return { result: false }
  const after = await writer.update('organization', before, {
    paymentCustomerId: customerId,
    ...(isEmail(email) && { billingEmail: email }),
  })
  return { event: billingUpdated(before, after), result: true }
}

/**
 * Returns `true` if a customer is allowed to pay for an organization. A payment through a link can
 * name any organization, so an organization with a paying customer keeps that customer.
 */
async function mayPay(
  { reader }: RecordWriter,
  { paymentCustomerId }: Payer,
  customerId: string,
): Promise<boolean> {
  if (paymentCustomerId === customerId) return true
  return !(await lastSubscriptions(reader, paymentCustomerId)).some(isLiving)
}

async function takeSubscription(
  writer: RecordWriter,
  payer: Payer,
  subscription: PaymentSubscription,
): Taken {
  const before = await writer.addPendingCalls(payer)
  const { data: plans } = await writer.reader.list('plan', {})
  const all = await lastSubscriptions(writer.reader, subscription.customerId)
  const ours = all.flatMap((each) => {
    const paid = paidPlanOf(each, plans)
    return paid === undefined ? [] : { ...each, ...paid }
  })
  const isOurs = paidPlanOf(subscription, plans) !== undefined
  const counts = isOurs && (isLiving(subscription) || hasLapsed(subscription))
  const changed = counts ? await takePlan(writer, before, ours) : before
  const hasTried = ours.some(({ trialStartsAt }) => trialStartsAt !== null)
  const hasUsedPaidTrial = changed.hasUsedPaidTrial || hasTried
  const after = await writer.update('organization', changed, { hasUsedPaidTrial })
  return completed('organization.plan_changed', { before, after }, { result: true })
}

type OurSubscription = LastSubscription & NonNullable<ReturnType<typeof paidPlanOf>>

/**
 * Sets the plan of an organization to that of its newest living subscription. Ends the plan if no
 * subscription is living.
 */
async function takePlan(
  writer: RecordWriter,
  before: Payer,
  ours: readonly OurSubscription[],
): Promise<Payer> {
  const living = newest(ours.filter(isLiving))
  if (living === undefined) return endPlan(writer, before, ours)
  const { plan, price, status, trialStartsAt: startsAt, trialEndsAt: endsAt } = living
  if (status === 'trial' && startsAt !== null && endsAt !== null) {
    return changePlan(writer, before, { plan, trial: { startsAt, endsAt } })
  }
  const period = monthOf(price, writer.now)
  // The provider determines the end of the previous period, even if the server's clock is behind.
  const closed = await closeDuePeriods(writer, before, period.periodStart)
  const changed = await changePlan(writer, closed, { plan, trial: null })
  return writer.update('organization', changed, period)
}

/**
 * Removes the plan and sets the end of the trial, so that the organization is in the same state as
 * after a trial. Changes nothing if no subscription has lapsed.
 */
async function endPlan(
  writer: RecordWriter,
  before: Payer,
  ours: readonly LastSubscription[],
): Promise<Payer> {
  const lapsed = newest(ours.filter(hasLapsed))
  if (lapsed === undefined) return before
  const { trialStartsAt, trialEndsAt, endedAt, occurredAt } = lapsed
  const end = endedAt ?? occurredAt
  const over = trialEndsAt === null || trialEndsAt > end ? end : trialEndsAt
  const changed = await changePlan(writer, before, { plan: null, trial: null })
  return writer.update('organization', changed, {
    trialStartsAt: trialStartsAt ?? over,
    trialEndsAt: over,
  })
}

function newest<S extends LastSubscription>(subscriptions: readonly S[]): S | undefined {
  const orderOf = ({ createdAt, id }: LastSubscription) => `${createdAt} ${id}`
  return [...subscriptions].sort((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1))[0]
}

/**
 * Returns the first price of the subscription that belongs to a plan, and the plan; `undefined` if
 * no price belongs to a plan.
 */
function paidPlanOf({ prices }: PaymentSubscription, plans: readonly Plan[]) {
  for (const price of prices) {
    const plan = plans.find((each) => priceIdsOf(each).includes(price.id))
    if (plan !== undefined) return { plan, price }
  }
  return undefined
}

async function takeInvoice(writer: RecordWriter, payer: Payer, invoice: PaymentInvoice): Taken {
  const { type: _, id: stripeInvoiceId, customerId: __, subscriptionId, ...fields } = invoice
  const where = { stripeInvoiceId, orgId: payer.id }
  const before = (await writer.reader.list('invoice', { where, limit: 1 })).data[0] ?? null
  const changes = { ...fields, stripeSubscriptionId: subscriptionId }
  const after =
    before === null
      ? await writer.insert('invoice', { ...changes, orgId: payer.id, stripeInvoiceId })
      : await writer.update('invoice', before, changes)
  const isPaidNow = after.status === 'paid' && before?.status !== 'paid'
  const otherwise = before === null ? 'invoice.created' : 'invoice.updated'
  const type = isPaidNow ? 'invoice.paid' : otherwise
  return completed(type, { before, after }, { result: true })
}
