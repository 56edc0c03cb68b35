import { type AuditEvent, webhookMessageCodec } from '@ff/protocol/management'
import * as z from 'zod'
import { fromBase64, toBase64 } from '../secrets/base64.ts'

/** The prefix of every webhook secret. The bytes of the secret follow in base64. */
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Creates the secret that signs the messages of a webhook, in the format of Standard Webhooks. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/** Returns the message body for an event. The body is identical in all attempts and deliveries. */
export function messageOf(event: AuditEvent): string {
  const message = { type: event.eventType, timestamp: event.createdAt, data: event }
  return JSON.stringify(z.encode(webhookMessageCodec, message))
}

/** A message to be signed and posted. */
export interface Posting {
  /** The id of the delivery, which is the same for each attempt. */
  readonly id: string
  /** The time of the attempt in milliseconds since the epoch. */
  readonly at: number
  readonly body: string
}

/** Returns the headers of Standard Webhooks, with which a receiver verifies a message. */
export async function signedHeaders(
  { id, at, body }: Posting,
  secret: string,
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(at / 1000))
  const bytes = fromBase64(secret.slice(SECRET_PREFIX.length))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, content))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${toBase64(signature)}`,
  }
}
