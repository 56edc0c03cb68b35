import type { LastPaymentEvent } from '@ff/storage'
import type { Reader } from '../changes/record-writer.ts'
import {
  type PaymentEvent,
  type PaymentSubject,
  type PaymentSubscription,
  rankOf,
} from '../ports/payment-event.ts'

type EventAbout = Omit<PaymentEvent, 'subject'> & { readonly subject: PaymentSubject }

/** How the thing was after the last event about it. */
export function subjectOf({ subject }: LastPaymentEvent): PaymentSubject {
  return subject as unknown as PaymentSubject
}

/**
 * Whether an event is newer than the last known one about the same object. Events come in
 * any order, more than once, and their times are whole seconds: of two in the same second the one
 * that is further on counts, and in the end their names decide, so that any order ends the same.
 */
export function isNewer(event: EventAbout, last: LastPaymentEvent): boolean {
  if (event.occurredAt !== last.occurredAt) return event.occurredAt > last.occurredAt
  const further = rankOf(event.subject) - rankOf(subjectOf(last))
  return further === 0 ? event.id > last.eventId : further > 0
}

/** A customer's subscription, and when something was last heard of it. */
export interface LastSubscription extends PaymentSubscription {
  readonly occurredAt: string
}

/** All that was ever heard of a customer's subscriptions. */
export async function lastSubscriptions(
  reader: Pick<Reader, 'list'>,
  customerId: string | null,
): Promise<readonly LastSubscription[]> {
  if (customerId === null) return []
  const { data } = await reader.list('paymentEvent', { where: { customerId } })
  return data.flatMap((last) => {
    const subject = subjectOf(last)
    return subject.type === 'subscription' ? [{ ...subject, occurredAt: last.occurredAt }] : []
  })
}

/** Whether what it pays for may be used. A payment that failed and is tried again costs nothing yet. */
export function isLiving({ status }: PaymentSubscription): boolean {
  return status === 'trial' || status === 'active' || status === 'overdue'
}

/** Whether it was paid for, and is not any more. */
export function hasLapsed({ status }: PaymentSubscription): boolean {
  return status === 'suspended' || status === 'ended'
}
