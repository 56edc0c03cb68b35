import { FlagError } from '@ff/core'
import {
  endpoints,
  type NewWebhook,
  type PageOf,
  type Webhook,
  type WebhookChanges,
  type WebhookDelivery,
} from '@ff/protocol/management'
import { newId } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { loadPermitted } from '../access/access-request.ts'
import { loadOrganizationPath, loadWebhookPath } from '../access/organization-paths.ts'
import { changeEvent } from '../audit/change-event.ts'
import { applyChange } from '../changes/apply-change.ts'
import type { Management } from '../changes/management.ts'
import { isEventPattern } from '../changes/webhook-outbox.ts'
import type { Input } from '../requests/input.ts'
import { pagingOf, toPage } from '../requests/pages.ts'
import { assertDistinct, invalid } from '../requests/validation.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { newWebhookSecret } from './webhook-message.ts'

/** Bounds the deliveries of one change. */
const MOST_WEBHOOKS = 20

/** One page of an organization's webhooks, in the order of their making; never their secrets. */
export async function listWebhooks(
  management: Management,
  { params, query }: Input<'listWebhooks', 'params' | 'query'>,
): Promise<PageOf<Webhook>> {
  const { permission } = endpoints.listWebhooks
  const request = { permission, load: loadOrganizationPath, params }
  const { organization } = await loadPermitted(management, request)
  const found = await management.storage.list('webhook', {
    where: { orgId: organization.id },
    sort: { field: 'createdAt', direction: 'asc' },
    ...pagingOf(query),
  })
  return toPage({ ...found, data: found.data.map(withoutSecret) }, query)
}

/** A webhook. */
export async function getWebhook(
  management: Management,
  { params }: Input<'getWebhook', 'params'>,
): Promise<Webhook> {
  const { permission } = endpoints.getWebhook
  const request = { permission, load: loadWebhookPath, params }
  return withoutSecret((await loadPermitted(management, request)).webhook)
}

/** A new webhook. `secret`, which its messages are signed with, is shown now and never again. */
export async function createWebhook(
  management: Management,
  { params, body }: { readonly params: { readonly orgId: string }; readonly body: NewWebhook },
): Promise<Webhook & { readonly secret: string }> {
  const { permission } = endpoints.createWebhook
  const request = { permission, load: loadOrganizationPath, params }
  const { organization } = await loadPermitted(management, request)
  assertMeant(management, body)
  const id = newId()
  const secret = newWebhookSecret()
  const sealedSecret = await boxOf(management).seal(secret, { purpose: 'webhook', id })
  const { url, eventTypes, isActive = true } = body
  const orgId = organization.id
  return applyChange(management, request, async (writer) => {
    const { total } = await writer.reader.list('webhook', { where: { orgId }, limit: 1 })
    if (total >= MOST_WEBHOOKS) {
      const message = `An organization has at most ${MOST_WEBHOOKS} webhooks.`
      throw new FlagError('CONFLICT', message)
    }
    const fields = { orgId, url, eventTypes, isActive, failingSince: null, sealedSecret }
    const record = withoutSecret(await writer.insert('webhook', fields, id))
    const event = changeEvent('webhook.created', id, { before: null, after: record })
    return { event, result: { ...record, secret }, shownOnce: 'secret' }
  })
}

/** Changes a webhook. Sent elsewhere, or switched on again, it counts as failing no more. */
export async function updateWebhook(
  management: Management,
  {
    params,
    body,
    expectedRevision,
  }: Input<'updateWebhook', 'params' | 'body' | 'expectedRevision'>,
): Promise<Webhook> {
  const { permission } = endpoints.updateWebhook
  const request = { permission, load: loadWebhookPath, params }
  await loadPermitted(management, request)
  assertMeant(management, body)
  return applyChange(management, request, async (writer, { webhook: before }) => {
    const isOther = body.url !== undefined && body.url !== before.url
    const startsAnew = isOther || (body.isActive === true && !before.isActive)
    const changes = startsAnew ? { ...body, failingSince: null } : body
    const after = await writer.update('webhook', before, changes, expectedRevision)
    const event = changeEvent('webhook.updated', before.id, { before, after })
    return { event, result: withoutSecret(after) }
  })
}

/** Deletes a webhook; its pending deliveries are not sent. */
export async function deleteWebhook(
  management: Management,
  { params, expectedRevision }: Input<'deleteWebhook', 'params' | 'expectedRevision'>,
): Promise<null> {
  const { permission } = endpoints.deleteWebhook
  const request = { permission, load: loadWebhookPath, params }
  return applyChange(management, request, async (writer, { webhook }) => {
    writer.assertRevision('webhook', webhook, expectedRevision)
    await writer.remove('webhook', webhook)
    const event = changeEvent('webhook.deleted', webhook.id, { before: webhook, after: null })
    return { event, result: null }
  })
}

/** Returns one page of a webhook's deliveries, sent and pending, the newest first. */
export async function listWebhookDeliveries(
  management: Management,
  { params, query }: Input<'listWebhookDeliveries', 'params' | 'query'>,
): Promise<PageOf<WebhookDelivery>> {
  const { permission } = endpoints.listWebhookDeliveries
  const request = { permission, load: loadWebhookPath, params }
  const { webhook } = await loadPermitted(management, request)
  const found = await management.storage.list('webhookDelivery', {
    where: { webhookId: webhook.id },
    // An organization's events are numbered in the order in which they happened.
    sort: { field: 'eventId', direction: 'desc' },
    ...pagingOf(query),
  })
  return toPage(found, query)
}

function withoutSecret({ sealedSecret: _, ...webhook }: Records['webhook']): Webhook {
  return webhook
}

/** Throws `INVALID_REQUEST` for a URL or an event type that no webhook can have. */
function assertMeant(
  { webhookSender }: Management,
  { url, eventTypes = [] }: NewWebhook | WebhookChanges,
): void {
  const unknown = eventTypes.findIndex((each) => !isEventPattern(each))
  if (unknown !== -1) throw invalid(`event_types.${unknown}`, 'is no event that webhooks tell of')
  assertDistinct(eventTypes, (index) => `event_types.${index}`)
  const refusal = url === undefined ? undefined : webhookSender.refusalOf(url)
  if (refusal !== undefined) throw invalid('url', refusal)
}

function boxOf({ secretBox }: Management): SecretBox {
  if (secretBox !== undefined) return secretBox
  const message = 'This server keeps no secrets that must be read back: its secretKey is not set.'
  throw new FlagError('UNAVAILABLE', message)
}
