import * as z from 'zod'
import { record } from '../record.ts'
import { count, id, timestamp } from '../scalars.ts'

/** One change that one webhook is, or was, to be told of. */
export type WebhookDelivery = z.output<typeof webhookDeliveryCodec>

/** Why an attempt failed. */
const webhookFault = z.enum([
  /** It was answered with a status that is not 2xx. */
  'status',
  /** It was answered with a redirect, which is not followed. */
  'redirect',
  /** It took longer than an attempt may take. */
  'timeout',
  /** The name of the host is unknown, or leads to an address that webhooks do not go to. */
  'host',
  /** The connection was refused, cut, or never came about. */
  'connection',
  /** There was no secure connection to be had: an untrusted certificate, for example. */
  'tls',
  /** The answer was not HTTP, or its headers were too large. */
  'response',
  /** The webhook was switched off or deleted before its turn came. */
  'inactive',
  /** The message could not be made, or signed; the server's log says why. */
  'internal',
])
export type WebhookFault = z.output<typeof webhookFault>

export const webhookDeliveryCodec = record(
  {
    /** Sent as `webhook-id`, the same with each attempt. */
    id,
    orgId: id,
    webhookId: id,
    /** The audit event that is told of. */
    eventId: z.string(),
    eventType: z.string(),
    status: z.enum(['pending', 'delivered', 'failed']),
    /** How many attempts have begun. */
    attempts: count,
    /** null when there will be none. While one runs: when another is made if it is never heard of. */
    nextAttemptAt: timestamp.nullable(),
    /** How the last attempt was answered; null when it was not, or is under way. */
    lastStatus: z.int().nullable(),
    /** Why the last attempt failed; null when it did not, or is under way. */
    lastError: webhookFault.nullable(),
    /** How long the last attempt took, in milliseconds; null while it is under way. */
    durationMs: count.nullable(),
    createdAt: timestamp,
  },
  {
    orgId: 'org_id',
    webhookId: 'webhook_id',
    eventId: 'event_id',
    eventType: 'event_type',
    nextAttemptAt: 'next_attempt_at',
    lastStatus: 'last_status',
    lastError: 'last_error',
    durationMs: 'duration_ms',
    createdAt: 'created_at',
  },
)
