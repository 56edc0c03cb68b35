import * as z from 'zod'
import { record } from '../record.ts'
import { timestamp } from '../scalars.ts'
import { auditEventCodec } from './audit-event.ts'

/** The body of a request to a webhook. */
export type WebhookMessage = z.output<typeof webhookMessageCodec>

/** The codec of `WebhookMessage`. */
export const webhookMessageCodec = record({
  /** The type of the event: a key of `auditEvents`. */
  type: z.string(),
  /** The time of the event. */
  timestamp,
  /** The event, as in the audit log. */
  data: auditEventCodec,
})
