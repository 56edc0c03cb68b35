import { type Invoice, overageMetadataCodec } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import * as z from 'zod'
import { findPlan } from '../changes/quotas.ts'
import type { RecordWriter } from '../changes/record-writer.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { overageOf } from './overage.ts'

/**
 * The status of an invoice that the payment provider has to charge. Charging deletes the invoice.
 */
export const PENDING = 'pending'

/** The use cases of invoices. */
export const invoiceUseCases = defineUseCases({
  /** Returns all invoices of an organization, newest first. */
  async listInvoices({ storage, organization }) {
    const { data } = await storage.list('invoice', {
      where: { orgId: organization.id },
      sort: { field: 'periodEnd', direction: 'desc' },
    })
    return { invoices: [...data] }
  },
})

/**
 * Inserts the invoice of an organization's current period, from its start until `end`. The amount
 * is the price of the API calls under the current plan.
 */
export async function drawInvoice(
  writer: RecordWriter,
  organization: Records['organization'],
  end: string,
): Promise<Invoice> {
  const { id: orgId, planId, apiUsage, periodStart, paymentCustomerId } = organization
  const plan = await findPlan(writer.reader, organization)
  const { freeCalls, blocks, eurCents } = overageOf(plan, apiUsage)
  const metadata = z.encode(overageMetadataCodec, {
    planId,
    apiUsage,
    freeApiCalls: freeCalls,
    overageBlocks: blocks,
    overageBlockSize: plan?.overageBlockSize ?? 0,
    overageRateEurCents: plan?.overageRateEurCents ?? 0,
  }) as Invoice['metadata']
  return writer.insert('invoice', {
    orgId,
    stripeInvoiceId: null,
    stripeSubscriptionId: null,
    amountDue: eurCents,
    amountPaid: 0,
    currency: 'eur',
    status: paymentCustomerId === null ? 'draft' : PENDING,
    invoicePdf: null,
    hostedInvoiceUrl: null,
    periodStart: periodStart ?? end,
    periodEnd: end,
    dueDate: null,
    paidAt: null,
    metadata,
  })
}
