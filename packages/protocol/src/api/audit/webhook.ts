import * as z from 'zod'
import { changing, creating, deleting, pageQuery, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { ORGANIZATION } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import { id, recordFields, text, timestamp } from '../scalars.ts'
import { webhookDeliveryCodec } from './webhook-delivery.ts'

/** A subscription that sends audit events of an organization to a URL. */
export type Webhook = z.output<typeof webhookCodec>

/** The target URL. The webhook sender checks the network address when it connects. */
const url = text(2048).regex(
  /^https?:\/\/[^\s\p{Cc}]+$/u,
  'must be an absolute URL that begins with https://',
)

/** Names of audit events, `resource.*` or `*`. */
const eventTypes = z
  .array(
    text(64).regex(/^(?:\*|[a-z_]+\.(?:\*|[a-z_]+))$/, 'must look like flag.updated, flag.* or *'),
  )
  .min(1)
  .max(100)

const fields = {
  id,
  orgId: id,
  url,
  /** Patterns of event types; an event is sent if it matches at least one pattern. */
  eventTypes,
  /** `false` pauses sending. */
  isActive: z.boolean(),
  /** The time of the first failure since the last success; `null` if the last attempt succeeded. */
  failingSince: timestamp.nullable(),
  ...recordFields,
}

const names = { isActive: 'active' } as const

/** The codec of `Webhook`. */
export const webhookCodec = record(fields, names)

/** The response to `createWebhook`. `secret` is `null` in the response to a repeated request. */
export type IssuedWebhook = z.output<typeof issuedWebhookCodec>

/** The codec of `IssuedWebhook`. */
export const issuedWebhookCodec = record({ ...fields, secret: z.string().nullable() }, names)

/** The body of `createWebhook`. */
export type NewWebhook = z.output<typeof newWebhookCodec>

/** The codec of `NewWebhook`. */
export const newWebhookCodec = record({ url, eventTypes, isActive: z.boolean().optional() }, names)

/** The body of `updateWebhook`; absent fields stay unchanged. */
export type WebhookChanges = z.output<typeof webhookChangesCodec>

/** The codec of `WebhookChanges`. */
export const webhookChangesCodec = changesOf(
  fields,
  { url: url.optional(), eventTypes: eventTypes.optional(), isActive: z.boolean().optional() },
  names,
)

const WEBHOOKS = `${ORGANIZATION}/webhooks` as const
const WEBHOOK = `${WEBHOOKS}/{webhookId}` as const
const permission = 'webhooks.write'

/** The endpoints of webhooks. */
export const webhookEndpoints = {
  listWebhooks: reading(WEBHOOKS, { query: pageQuery, response: pageOf(webhookCodec) }),
  createWebhook: creating(WEBHOOKS, {
    permission,
    body: newWebhookCodec,
    response: issuedWebhookCodec,
  }),
  getWebhook: reading(WEBHOOK, { response: webhookCodec }),
  updateWebhook: changing(WEBHOOK, {
    permission,
    body: webhookChangesCodec,
    response: webhookCodec,
  }),
  deleteWebhook: deleting(WEBHOOK, { permission }),
  listWebhookDeliveries: reading(`${WEBHOOK}/deliveries`, {
    query: pageQuery,
    response: pageOf(webhookDeliveryCodec),
  }),
}
