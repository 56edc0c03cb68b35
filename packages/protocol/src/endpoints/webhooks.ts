import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import {
  issuedWebhookCodec,
  newWebhookCodec,
  webhookChangesCodec,
  webhookCodec,
} from '../resources/webhook.ts'
import { webhookDeliveryCodec } from '../resources/webhook-delivery.ts'
import { id } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  inOrganization,
  noQuery,
  organizationParams,
  pageQuery,
  reading,
} from './endpoint.ts'
import { ORGANIZATION } from './organizations.ts'

const WEBHOOKS = `${ORGANIZATION}/webhooks` as const
const WEBHOOK = `${WEBHOOKS}/{webhookId}` as const
const permission = 'webhooks.write'
const params = record({ ...inOrganization, webhookId: id }, {})

export const webhookEndpoints = {
  listWebhooks: {
    ...reading,
    path: WEBHOOKS,
    params: organizationParams,
    query: pageQuery,
    response: pageOf(webhookCodec),
  },
  createWebhook: {
    ...creating,
    permission,
    path: WEBHOOKS,
    params: organizationParams,
    body: newWebhookCodec,
    response: issuedWebhookCodec,
  },
  getWebhook: { ...reading, path: WEBHOOK, params, query: noQuery, response: webhookCodec },
  updateWebhook: {
    ...changing,
    permission,
    path: WEBHOOK,
    params,
    body: webhookChangesCodec,
    response: webhookCodec,
  },
  deleteWebhook: { ...deleting, permission, path: WEBHOOK, params },
  listWebhookDeliveries: {
    ...reading,
    path: `${WEBHOOK}/deliveries`,
    params,
    query: pageQuery,
    response: pageOf(webhookDeliveryCodec),
  },
} as const satisfies Record<string, Endpoint>
