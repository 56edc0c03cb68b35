import { isFlagError } from '@ff/core'
import type { Invoice } from '@ff/protocol/management'
import { type Job, timestampAt } from '@ff/server/plane'
import { SYSTEM } from '../access/actors.ts'
import { applyChange, type ChangeServices } from '../changes/apply-change.ts'
import { completed } from '../changes/change-event.ts'
import type { Payments } from '../ports/payments.ts'
import { PENDING } from './invoices.ts'
import { closeDuePeriod } from './plan-change.ts'

const EVERY_MS = 60_000
/** A timestamp earlier than that of any record. */
const BEFORE_ALL = '0000-01-01T00:00:00.000Z'

/**
 * Creates the job that draws up the invoice of each period that has ended, including periods that
 * ended while no server was running. If there is a payment provider, the job charges the invoices
 * of the provider's customers.
 */
export function billingJob(services: ChangeServices, payments: Payments | undefined): Job {
  return {
    name: 'close billing periods',
    everyMs: EVERY_MS,
    isShared: true,
    run: async () => {
      await closePeriods(services)
      if (payments !== undefined) await chargePending(services, payments)
    },
  }
}

async function closePeriods(services: ChangeServices): Promise<void> {
  // The range ends before `to`.
  const to = new Date(services.clock.now() + 1).toISOString()
  const range = { field: 'currentPeriodEnd', from: BEFORE_ALL, to } as const
  const due = await services.storage.list('organization', { range })
  for (const { id } of due.data) {
    await attempt(services, id, async () => {
      while (await closePeriod(services, id));
    })
  }
}

/**
 * Closes the current period of an organization and returns `true`. Returns `false` if the period
 * has not ended yet, or if another instance has closed it.
 */
function closePeriod(services: ChangeServices, orgId: string): Promise<boolean> {
  return applyChange(services, requestFor(orgId), async (writer, { organization }) => {
    const closed = await closeDuePeriod(writer, await writer.addPendingCalls(organization))
    if (closed === undefined) return { result: false }
    const { invoice } = closed
    return completed('invoice.created', { after: invoice }, { result: true })
  })
}

function requestFor(orgId: string) {
  return { actor: SYSTEM, permission: 'billing.write', ids: { orgId } } as const
}

async function chargePending(services: ChangeServices, payments: Payments): Promise<void> {
  const pending = await services.storage.list('invoice', { where: { status: PENDING } })
  for (const invoice of pending.data) {
    await attempt(services, invoice.orgId, () => charge(services, payments, invoice))
  }
}

/**
 * Charges a pending invoice. The amount is fixed and the idempotency key belongs to the invoice, so
 * the customer is charged only one time even if this function is interrupted and runs again.
 */
async function charge(
  services: ChangeServices,
  payments: Payments,
  invoice: Invoice,
): Promise<void> {
  const { id, orgId, amountDue: amountCents, periodStart, periodEnd } = invoice
  const { storage } = services
  const living = await storage.find('organization', orgId)
  const organization = living ?? (await storage.findDeleted('organization', orgId))
  const customerId = organization?.paymentCustomerId ?? null
  const description = `API calls beyond the plan, ${periodStart.slice(0, 10)} – ${periodEnd.slice(0, 10)}`
  const order = { amountCents, description, idempotencyKey: `overage-${id}` }
  const isAccepted =
    customerId !== null &&
    (amountCents === 0 || (await isTaken(payments.chargeOverage({ customerId, ...order }))))
  if (living === undefined) await settleOfDeleted(services, invoice, isAccepted)
  else await settle(services, invoice, isAccepted)
}

/**
 * Does what `settle` does for an organization that was deleted while its invoice was pending. Such
 * an organization has no changes, and therefore no audit entries, any more.
 */
async function settleOfDeleted(
  { storage, clock }: ChangeServices,
  { id, orgId }: Invoice,
  isAccepted: boolean,
): Promise<void> {
  await storage.transaction(orgId, async (session) => {
    const before = await session.find('invoice', id)
    if (before?.status !== PENDING) return
    const now = timestampAt(clock)
    const end = isAccepted ? { deletedAt: now } : { status: 'draft' as const }
    const after = { ...end, updatedAt: now, revision: before.revision + 1 }
    await session.update('invoice', id, after, before.revision)
  })
}

/** Returns `false` if the provider refuses the charge. Throws if the provider is unavailable. */
async function isTaken(charging: Promise<void>): Promise<boolean> {
  try {
    await charging
    return true
  } catch (error) {
    if (isFlagError(error) && error.code === 'INVALID_REQUEST') return false
    throw error
  }
}

/**
 * Removes a pending invoice if the provider has accepted its charge; otherwise makes it a draft.
 */
async function settle(
  services: ChangeServices,
  { id, orgId }: Invoice,
  isAccepted: boolean,
): Promise<void> {
  await applyChange(services, requestFor(orgId), async (writer) => {
    const before = await writer.reader.find('invoice', id)
    // Another instance may have settled the invoice already.
    if (before?.status !== PENDING) return { result: null }
    if (isAccepted) {
      // The provider adds the charge to an invoice of its own.
      await writer.remove('invoice', before)
      return completed('invoice.charged', { before })
    }
    const after = await writer.update('invoice', before, { status: 'draft' })
    return completed('invoice.updated', { before, after }, { result: null })
  })
}

/** Runs work for one organization. Logs a failure, so that the job continues with the others. */
async function attempt(
  { logger }: ChangeServices,
  orgId: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (cause) {
    logger.error('An organization could not be billed', { orgId, cause })
  }
}
