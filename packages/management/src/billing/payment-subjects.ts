import type { LastPaymentEvent } from '@ff/storage'
import type { Reader } from '../changes/record-writer.ts'
import {
  type PaymentEvent,
  type PaymentSubject,
  type PaymentSubscription,
  rankOf,
} from '../ports/payment-event.ts'

type EventAbout = Omit<PaymentEvent, 'subject'> & { readonly subject: PaymentSubject }

/** Returns the state of an object of the payment provider after the last event about it. */
export function subjectOf({ subject }: LastPaymentEvent): PaymentSubject {
  return subject as unknown as PaymentSubject
}

/**
 * Returns `true` if an event is newer than the last stored one about the same object. Events arrive
 * in any order and more than once, and their times are whole seconds. Of two events of the same
 * second, the event with the more advanced state is newer. If the states are equally advanced, the
 * ids of the events are compared, so that the result does not depend on the order of arrival.
 */
export function isNewer(event: EventAbout, last: LastPaymentEvent): boolean {
  if (event.occurredAt !== last.occurredAt) return event.occurredAt > last.occurredAt
  const further = rankOf(event.subject) - rankOf(subjectOf(last))
  return further === 0 ? event.id > last.eventId : further > 0
}

/** A customer's subscription, and the time of the last event about it. */
export interface LastSubscription extends PaymentSubscription {
  readonly occurredAt: string
}

/** Returns the last state of each subscription of a customer; none if `customerId` is `null`. */
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

/**
 * Returns `true` if the subscription is on trial, active or overdue, so that its plan can be used.
 */
export function isLiving({ status }: PaymentSubscription): boolean {
  return status === 'trial' || status === 'active' || status === 'overdue'
}

/** Returns `true` if the subscription was suspended or has ended. */
export function hasLapsed({ status }: PaymentSubscription): boolean {
  return status === 'suspended' || status === 'ended'
}
