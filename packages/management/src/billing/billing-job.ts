import { isFlagError } from '@ff/core'
import type { Invoice } from '@ff/protocol/management'
import type { Job } from '@ff/server/plane'
import { SYSTEM } from '../access/actors.ts'
import { loadOrganizationPath } from '../access/organization-paths.ts'
import { type ChangeEvent, changeEvent } from '../audit/change-event.ts'
import { applyChange, type CompletedChange } from '../changes/apply-change.ts'
import type { Installation, Management } from '../changes/management.ts'
import type { RecordWriter } from '../changes/record-writer.ts'
import type { Payments } from '../ports/payments.ts'
import { PENDING } from './invoices.ts'
import { closeDuePeriod } from './plan-change.ts'

const EVERY_MS = 60_000
/** A timestamp before that of any record. */
const BEFORE_ALL = '0000-01-01T00:00:00.000Z'

const permission = 'billing.write'

/**
 * Draws up the invoice of each period that has ended, also of those that ended while no server
 * ran, and has the payment provider charge what its customers owe for theirs.
 */
export function billingJob(installation: Installation): Job {
  const management = { ...installation, actor: SYSTEM }
  return {
    name: 'close billing periods',
    everyMs: EVERY_MS,
    run: async () => {
      await closePeriods(management)
      await chargePending(management)
    },
  }
}

async function closePeriods(management: Management): Promise<void> {
  // The range ends before `to`.
  const to = new Date(management.clock.now() + 1).toISOString()
  const range = { field: 'currentPeriodEnd', from: BEFORE_ALL, to } as const
  const due = await management.storage.list('organization', { range })
  for (const { id } of due.data) {
    await attempt(management, id, async () => {
      while (await closePeriod(management, id));
    })
  }
}

/** False when the organization's period has not ended yet, or another instance has closed it. */
function closePeriod(management: Management, orgId: string): Promise<boolean> {
  const request = { permission, load: loadOrganizationPath, params: { orgId } } as const
  return applyChange(management, request, async (writer, { organization }) => {
    const closed = await closeDuePeriod(writer, organization)
    const fields = { before: null, after: closed?.invoice ?? null }
    const event = changeEvent('invoice.created', closed?.invoice.id ?? '', fields)
    return { event, result: closed !== undefined }
  })
}

async function chargePending(management: Management): Promise<void> {
  const { payments, storage } = management
  if (payments === undefined) return
  const pending = await storage.list('invoice', { where: { status: PENDING } })
  for (const invoice of pending.data) {
    await attempt(management, invoice.orgId, () => charge(management, payments, invoice))
  }
}

/**
 * The amount was settled when the invoice was drawn up, and the key is the invoice's: however
 * often this is tried, and wherever it stops, it is charged once.
 */
async function charge(management: Management, payments: Payments, invoice: Invoice): Promise<void> {
  const { id, orgId, amountDue: amountCents, periodStart, periodEnd } = invoice
  const organization = await management.storage.find('organization', orgId)
  if (organization === undefined) return
  const customerId = organization.paymentCustomerId
  const description = `API calls beyond the plan, ${periodStart.slice(0, 10)} – ${periodEnd.slice(0, 10)}`
  const order = { amountCents, description, idempotencyKey: `overage-${id}` }
  const isAccepted =
    customerId !== null &&
    (amountCents === 0 || (await isTaken(payments.chargeOverage({ customerId, ...order }))))
  await settle(management, invoice, isAccepted ? handOver : keepAsDraft)
}

/** False when the provider refuses; throws when it cannot be asked. */
async function isTaken(charging: Promise<void>): Promise<boolean> {
  try {
    await charging
    return true
  } catch (error) {
    if (isFlagError(error) && error.code === 'INVALID_REQUEST') return false
    throw error
  }
}

async function settle(
  management: Management,
  { id, orgId }: Invoice,
  finish: (writer: RecordWriter, invoice: Invoice) => Promise<ChangeEvent>,
): Promise<void> {
  const request = { permission, load: loadOrganizationPath, params: { orgId } } as const
  await applyChange(management, request, async (writer): Promise<CompletedChange<null>> => {
    const invoice = await writer.reader.find('invoice', id)
    const isPending = invoice?.status === PENDING
    const event = isPending ? await finish(writer, invoice) : NOTHING
    return { event, result: null }
  })
}

/** Of work that wrote nothing, because another instance was faster. */
const NOTHING = changeEvent('invoice.charged', '', { before: null, after: null })

/** From here on it is a part of an invoice of the provider's. */
async function handOver(writer: RecordWriter, invoice: Invoice): Promise<ChangeEvent> {
  await writer.remove('invoice', invoice)
  return changeEvent('invoice.charged', invoice.id, { before: invoice, after: null })
}

/** An invoice that the provider refuses to charge stays here as a draft. */
async function keepAsDraft(writer: RecordWriter, before: Invoice): Promise<ChangeEvent> {
  const after = await writer.update('invoice', before, { status: 'draft' })
  return changeEvent('invoice.updated', before.id, { before, after })
}

/** One organization's trouble must not keep the others waiting; the next run tries again. */
async function attempt(
  { logger }: Management,
  orgId: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (cause) {
    logger.error('an organization could not be billed', { orgId, cause })
  }
}
