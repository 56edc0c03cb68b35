import * as z from 'zod'
import { record } from '../record.ts'
import { count, id, recordFields, timestamp } from '../scalars.ts'

/** An invoice of an organization for one period. */
export type Invoice = z.output<typeof invoiceCodec>

/** The codec of `Invoice`. */
export const invoiceCodec = record({
  id,
  orgId: id,
  /**
   * For an invoice of this server: `pending` until the payment provider has accepted or refused the
   * charge, `draft` if there is no provider to charge or the provider has refused. Otherwise the
   * status at the payment provider.
   */
  stripeInvoiceId: z.string().nullable(),
  stripeSubscriptionId: z.string().nullable(),
  /** The amount in the smallest unit of the currency, such as cents. */
  amountDue: z.int(),
  amountPaid: z.int(),
  /** The currency code in lower case, such as `eur`. */
  currency: z.string(),
  /** `draft` if this server created the invoice, otherwise the status at the payment provider. */
  status: z.string(),
  invoicePdf: z.string().nullable(),
  hostedInvoiceUrl: z.string().nullable(),
  periodStart: timestamp,
  periodEnd: timestamp,
  dueDate: timestamp.nullable(),
  paidAt: timestamp.nullable(),
  metadata: z.record(z.string(), z.json()),
  ...recordFields,
})

/** All invoices of an organization, newest first. */
export type Invoices = z.output<typeof invoicesCodec>

/** The codec of `Invoices`. */
export const invoicesCodec = z.strictObject({ invoices: z.array(invoiceCodec) })

/** The inputs of the overage calculation, in the metadata of invoices from this server. */
export type OverageMetadata = z.output<typeof overageMetadataCodec>

/** The codec of `OverageMetadata`. */
export const overageMetadataCodec = record({
  /** The organization's plan when the period ended; `null` if it had none. */
  planId: id.nullable(),
  apiUsage: count,
  /** The number of free API calls; `null` if the number is unlimited. */
  freeApiCalls: count.nullable(),
  overageBlocks: count,
  overageBlockSize: count,
  overageRateEurCents: count,
})
