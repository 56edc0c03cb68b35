import { FlagError } from '@ff/core'
import type { NewWebhook, Webhook, WebhookChanges } from '@ff/protocol/management'
import { newId } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { completed } from '../changes/change-event.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { isEventPattern } from '../changes/webhook-outbox.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import { listPage } from '../requests/pages.ts'
import { assertDistinct, invalid } from '../requests/validation.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { newWebhookSecret } from './webhook-message.ts'

/** Bounds the deliveries of one change. */
const MOST_WEBHOOKS = 20

/** The use cases of webhooks. */
export const webhookUseCases = defineUseCases({
  /** One page of an organization's webhooks, in the order of their making; never their secrets. */
  async listWebhooks({ storage, organization, query }) {
    const where = { orgId: organization.id }
    const page = await listPage(storage, 'webhook', { where, sortBy: 'createdAt', query })
    return { ...page, data: page.data.map(withoutSecret) }
  },

  /** A webhook. */
  getWebhook: async ({ webhook }) => withoutSecret(webhook),

  /** Deletes a webhook; its pending deliveries are not sent. */
  async deleteWebhook({ writer, webhook, expectedRevision }) {
    await writer.remove('webhook', webhook, expectedRevision)
    return completed('webhook.deleted', { before: webhook })
  },

  /** Returns one page of a webhook's deliveries, sent and pending, the newest first. */
  listWebhookDeliveries: ({ storage, webhook, query }) => {
    const where = { webhookId: webhook.id }
    // An organization's events are numbered in the order in which they happened.
    const order = { sortBy: 'eventId', direction: 'desc' } as const
    return listPage(storage, 'webhookDelivery', { where, ...order, query })
  },
})

/** What writing webhooks depends on. */
interface WebhookServices {
  readonly webhookSender: WebhookSender
  /** `undefined` without a `secretKey`; creating a webhook is refused. */
  readonly secretBox: SecretBox | undefined
}

/** Creates the use cases that write a webhook's URL or secret. */
export function createWebhookUseCases({ webhookSender, secretBox }: WebhookServices) {
  return defineUseCases({
    /** A new webhook. `secret`, which its messages are signed with, is shown now and never again. */
    async createWebhook({ writer, organization, body }) {
      assertMeant(webhookSender, body)
      const id = newId()
      const secret = newWebhookSecret()
      const sealedSecret = await requireBox(secretBox).seal(secret, { purpose: 'webhook', id })
      const { url, eventTypes, isActive = true } = body
      const orgId = organization.id
      const { total } = await writer.reader.list('webhook', { where: { orgId }, limit: 1 })
      if (total >= MOST_WEBHOOKS) {
        const message = `An organization has at most ${MOST_WEBHOOKS} webhooks.`
        throw new FlagError('CONFLICT', message)
      }
      const fields = { orgId, url, eventTypes, isActive, failingSince: null, sealedSecret }
      const record = withoutSecret(await writer.insert('webhook', fields, id))
      const result = { ...record, secret }
      return completed('webhook.created', { after: record }, { result, shownOnce: 'secret' })
    },

    /** Changes a webhook. Sent elsewhere, or switched on again, it counts as failing no more. */
    async updateWebhook({ writer, webhook: before, body, expectedRevision }) {
      assertMeant(webhookSender, body)
      const isOther = body.url !== undefined && body.url !== before.url
      const startsAnew = isOther || (body.isActive === true && !before.isActive)
      const changes = startsAnew ? { ...body, failingSince: null } : body
      const after = await writer.update('webhook', before, changes, expectedRevision)
      return completed('webhook.updated', { before, after }, { result: withoutSecret(after) })
    },
  })
}

function withoutSecret({ sealedSecret: _, ...webhook }: Records['webhook']): Webhook {
  return webhook
}

/** Throws `INVALID_REQUEST` for a URL or an event type that no webhook can have. */
function assertMeant(
  webhookSender: WebhookSender,
  { url, eventTypes = [] }: NewWebhook | WebhookChanges,
): void {
  const unknown = eventTypes.findIndex((each) => !isEventPattern(each))
  if (unknown !== -1) throw invalid(`event_types.${unknown}`, 'is no event that webhooks tell of')
  assertDistinct(eventTypes, (index) => `event_types.${index}`)
  const refusal = url === undefined ? undefined : webhookSender.refusalOf(url)
  if (refusal !== undefined) throw invalid('url', refusal)
}

function requireBox(secretBox: SecretBox | undefined): SecretBox {
  if (secretBox !== undefined) return secretBox
  const message = 'This server keeps no secrets that must be read back: its secretKey is not set.'
  throw new FlagError('UNAVAILABLE', message)
}
