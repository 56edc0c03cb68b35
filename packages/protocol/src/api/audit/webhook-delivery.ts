import * as z from 'zod'
import { record } from '../record.ts'
import { count, id, timestamp } from '../scalars.ts'

/** The delivery of one audit event to one webhook. */
export type WebhookDelivery = z.output<typeof webhookDeliveryCodec>

/** The reason why an attempt failed. */
const webhookFault = z.enum([
  /** The response status is not 2xx. */
  'status',
  /** The response is a redirect, which is not followed. */
  'redirect',
  /** The attempt exceeded its time limit. */
  'timeout',
  /** The host name is unknown or resolves to an address that webhooks must not reach. */
  'host',
  /** The connection was refused, closed or not established. */
  'connection',
  /** The TLS handshake failed, for example because of an untrusted certificate. */
  'tls',
  /** The response is not HTTP, or its headers are too large. */
  'response',
  /** The webhook was disabled or deleted before the attempt. */
  'inactive',
  /** The message could not be created or signed; the server's log contains the cause. */
  'internal',
])
/** The reason why an attempt of a delivery failed. */
export type WebhookFault = z.output<typeof webhookFault>

/** The codec of `WebhookDelivery`. */
export const webhookDeliveryCodec = record({
  /** The value of the header `webhook-id`; equal in all attempts. */
  id,
  orgId: id,
  webhookId: id,
  /** The id of the audit event to deliver. */
  eventId: z.string(),
  eventType: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  /** The number of attempts that have started. */
  attempts: count,
  /**
   * The time of the next attempt; `null` if none follows. During an attempt, the time of a
   * replacement, which starts only if the result of the attempt is not stored by then, for example
   * because the server was stopped.
   */
  nextAttemptAt: timestamp.nullable(),
  /**
   * The response status of the last attempt; `null` if there was no response, before the first
   * attempt, and during an attempt.
   */
  lastStatus: z.int().nullable(),
  /**
   * The failure of the last attempt; `null` if the attempt succeeded, before the first attempt, and
   * during an attempt.
   */
  lastError: webhookFault.nullable(),
  /**
   * The duration of the last attempt in milliseconds; `null` before the first attempt and during an
   * attempt.
   */
  durationMs: count.nullable(),
  createdAt: timestamp,
})
