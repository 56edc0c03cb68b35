import { type AuditEvent, webhookMessageCodec } from '@ff/protocol/management'
import * as z from 'zod'
import { fromBase64, toBase64 } from '../secrets/base64.ts'

/** What every secret of a webhook begins with, before its base64. */
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret to sign with, as receivers are given it. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + toBase64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/** What is posted of an event: always the same bytes for the same event. */
export function messageOf(event: AuditEvent): string {
  const message = { type: event.eventType, timestamp: event.createdAt, data: event }
  return JSON.stringify(z.encode(webhookMessageCodec, message))
}

/** A message as it is about to be posted. */
export interface Posting {
  /** The same with each attempt. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly body: string
}

/** The three headers by which receivers know a message is genuine, as Standard Webhooks has them. */
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
