import * as z from 'zod'
import { record } from '../record.ts'
import { timestamp } from '../scalars.ts'
import { auditEventCodec } from './audit-event.ts'

/** The body of a request to a webhook. */
export type WebhookMessage = z.output<typeof webhookMessageCodec>

/** The codec of `WebhookMessage`. */
export const webhookMessageCodec = record({
  /** The name of the event: a name of `auditEvents`. */
  type: z.string(),
  /** When it happened. */
  timestamp,
  /** The event, as the audit log answers it. */
  data: auditEventCodec,
})
