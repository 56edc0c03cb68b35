import * as z from 'zod'
import { record } from '../record.ts'
import { count, id, recordFields, timestamp } from '../scalars.ts'

/** An open or paid invoice of an organization for a period. */
export type Invoice = z.output<typeof invoiceCodec>

/** The codec of `Invoice`. */
export const invoiceCodec = record({
  id,
  orgId: id,
  /** `null` for an invoice created by this server. */
  stripeInvoiceId: z.string().nullable(),
  stripeSubscriptionId: z.string().nullable(),
  /** In the smallest unit of the currency, such as cents. */
  amountDue: z.int(),
  amountPaid: z.int(),
  /** In lower case, such as `eur`. */
  currency: z.string(),
  /** `draft` for an invoice created by this server, else the status of the payment provider. */
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

/** All invoices of an organization, the newest first. */
export type Invoices = z.output<typeof invoicesCodec>

/** The codec of `Invoices`. */
export const invoicesCodec = z.strictObject({ invoices: z.array(invoiceCodec) })

/** The inputs of the calculation, in the metadata of an invoice created by this server. */
export type OverageMetadata = z.output<typeof overageMetadataCodec>

/** The codec of `OverageMetadata`. */
export const overageMetadataCodec = record({
  /** The plan in force when the period ended. */
  planId: id.nullable(),
  apiUsage: count,
  /** `null`: unlimited. */
  freeApiCalls: count.nullable(),
  overageBlocks: count,
  overageBlockSize: count,
  overageRateEurCents: count,
})
