import { isFlagError, type JsonValue } from '@ff/core'
import { endpoints } from '@ff/protocol/management'
import { type LogFields, type Logger, timestampAt } from '@ff/server/plane'
import type { LastPaymentEvent } from '@ff/storage'
import * as z from 'zod'
import type { Actor } from '../access/actors.ts'
import { notConfigured } from '../access/permissions.ts'
import { applyChange, type ChangeRequest, type ChangeServices } from '../changes/apply-change.ts'
import type { EndpointUseCases } from '../changes/use-case.ts'
import {
  assertReadableEvent,
  type PaymentEvent,
  type PaymentSubject,
} from '../ports/payment-event.ts'
import type { PaymentDelivery, Payments } from '../ports/payments.ts'
import { takeIn } from './payment-changes.ts'
import { isNewer, subjectOf } from './payment-subjects.ts'

/** The actor of changes that follow from events of the payment provider. */
const PROVIDER: Actor = { id: 'stripe', email: '', name: 'Stripe', role: 'owner', orgId: null }
const { permission: PERMISSION } = endpoints.createCheckout
/** The lock under which events are stored, one at a time. */
const LOCK = 'payments'
/** The time for which an event is kept if its customer belongs to no organization. */
const UNCLAIMED_MS = 7 * 24 * 60 * 60 * 1000

/** Creates the use case of payment events; without a provider, it throws `NOT_FOUND`. */
export function createPaymentEventUseCases(payments: Payments | undefined) {
  return {
    /**
     * Receives an event of the payment provider. The newest event about each object of the provider
     * is stored, and is applied one time to the organization of the customer. A repeated or late
     * event changes nothing. If the customer belongs to no organization yet, the event is kept for
     * a week.
     */
    async receiveStripeEvent(services, { caller }, { body }) {
      const { clock, logger } = services
      if (payments === undefined) {
        const how = 'set payments of createManagement, or FF_STRIPE_SECRET_KEY'
        throw notConfigured('Stripe is', how)
      }
      const signature = caller?.header('stripe-signature')
      const delivery = { rawBody: body, signature, now: clock.now() }
      const { id, occurredAt, subject } = await readEvent(payments, delivery, logger)
      logger.debug('The payment provider sent an event', { id, occurredAt, subject: subject?.id })
      if (subject === null) return null
      await keep(services, { id, occurredAt, subject })
      await settleAll(services, subject.customerId)
      return null
    },
  } satisfies Partial<EndpointUseCases>
}

/**
 * Returns the event of a delivery. Throws `INVALID_REQUEST` if the delivery is not signed or the
 * event cannot be read. A signed event that cannot be read is also logged.
 */
async function readEvent(
  payments: Payments,
  delivery: PaymentDelivery,
  logger: Logger,
): Promise<PaymentEvent> {
  try {
    const event = await payments.parseEvent(delivery)
    assertReadableEvent(event)
    return event
  } catch (error) {
    const eventId = isFlagError(error) ? error.details?.['eventId'] : undefined
    if (eventId !== undefined) logger.warn(`A payment event was refused: ${String(error)}`)
    throw error
  }
}

/** Stores an event unless a newer one about the same object is stored. */
async function keep(
  { storage, clock }: ChangeServices,
  event: PaymentEvent & { readonly subject: PaymentSubject },
): Promise<void> {
  const { id: eventId, occurredAt, subject } = event
  const { id, customerId } = subject
  const receivedAt = timestampAt(clock)
  // The subject is JSON, but the compiler does not accept interfaces as `JsonValue`.
  const json = subject as unknown as JsonValue
  const kept = { customerId, eventId, occurredAt, subject: json, receivedAt }
  await storage.transaction(LOCK, async (session) => {
    const to = new Date(clock.now() - UNCLAIMED_MS).toISOString()
    const range = { field: 'receivedAt', to } as const
    await session.purge('paymentEvent', { where: { settledEventId: null }, range })
    const last = await session.find('paymentEvent', id)
    if (last === undefined)
      await session.insert('paymentEvent', { id, ...kept, settledEventId: null })
    else if (isNewer(event, last)) await session.update('paymentEvent', id, kept)
  })
}

/**
 * Applies those stored events of a customer that are not applied yet to the customer's
 * organization.
 */
async function settleAll(services: ChangeServices, customerId: string): Promise<void> {
  const { data } = await services.storage.list('paymentEvent', { where: { customerId } })
  const open = data.filter(({ eventId, settledEventId }) => eventId !== settledEventId)
  // Events that name the organization of the customer come first.
  const isClaim = (last: LastPaymentEvent) => claimOf(subjectOf(last)) !== null
  for (const last of [...open.filter(isClaim), ...open.filter((each) => !isClaim(each))]) {
    const orgId = await findOrganization(services, last)
    if (orgId !== undefined) await settle(services, last, orgId)
    else services.logger.info('The customer of a payment event is unknown', factsOf(last))
  }
}

async function findOrganization(
  { storage }: ChangeServices,
  last: LastPaymentEvent,
): Promise<string | undefined> {
  const where = { paymentCustomerId: last.customerId }
  const known = (await storage.list('organization', { where, limit: 1 })).data[0]
  const claimed = claimOf(subjectOf(last))
  if (known !== undefined || claimed === null) return known?.id
  return (await storage.find('organization', claimed))?.id
}

/**
 * Returns the id of the organization that a customer or a checkout names; `null` if it names none.
 * The text is not trusted, because users can enter any text in this field.
 */
function claimOf(subject: PaymentSubject): string | null {
  if (subject.type !== 'customer' && subject.type !== 'checkout') return null
  return z.guid().safeParse(subject.orgId).data?.toLowerCase() ?? null
}

/** Applies an event and marks it as settled, in one transaction. */
async function settle(
  services: ChangeServices,
  last: LastPaymentEvent,
  orgId: string,
): Promise<void> {
  let taken: LastPaymentEvent | undefined
  const request: ChangeRequest<{ readonly orgId: string }> = {
    actor: { ...PROVIDER, orgId },
    permission: PERMISSION,
    ids: { orgId },
    async alongside(session) {
      if (taken === undefined) return
      await session.update('paymentEvent', taken.id, { settledEventId: taken.eventId })
    },
  }
  // The calls before the change belong to the period before it.
  await services.instance.writeUsage()
  const isTaken = await applyChange(services, request, async (writer, { organization }) => {
    // Another delivery could have stored a newer event in the meantime.
    const newest = (await writer.reader.find('paymentEvent', last.id)) ?? last
    const outcome = await takeIn(writer, organization, newest)
    taken = outcome.result ? newest : undefined
    return outcome
  })
  if (isTaken) return
  services.logger.warn(
    'A payment event was not applied because another customer pays for the organization',
    { orgId, ...factsOf(last) },
  )
}

function factsOf({ id, customerId, eventId }: LastPaymentEvent): LogFields {
  return { id, customerId, eventId }
}
