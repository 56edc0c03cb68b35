import { FlagError } from '@ff/core'
import type { NewWebhook, Webhook, WebhookChanges } from '@ff/protocol/management'
import { newId } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { completed } from '../changes/change-event.ts'
import { defineUseCases } from '../changes/use-case.ts'
import { isEventPattern, WEBHOOK_EVENT_TYPES } from '../changes/webhook-outbox.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import { listPage } from '../requests/pages.ts'
import { assertDistinct, invalid } from '../requests/validation.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { newWebhookSecret } from './webhook-message.ts'

/** The maximum number of webhooks per organization. It also limits the deliveries per change. */
const MOST_WEBHOOKS = 20

/** The use cases of webhooks. */
export const webhookUseCases = defineUseCases({
  /**
   * Returns one page of an organization's webhooks, in order of creation, without their secrets.
   */
  async listWebhooks({ storage, organization, query }) {
    const where = { orgId: organization.id }
    const page = await listPage(storage, 'webhook', { where, sortBy: 'createdAt', query })
    return { ...page, data: page.data.map(withoutSecret) }
  },

  /** Returns a webhook without its secret. */
  getWebhook: async ({ webhook }) => withoutSecret(webhook),

  /** Deletes a webhook. Its pending deliveries are not sent. */
  async deleteWebhook({ writer, webhook, expectedRevision }) {
    await writer.remove('webhook', webhook, expectedRevision)
    return completed('webhook.deleted', { before: webhook })
  },

  /** Returns one page of a webhook's deliveries, sent and pending, newest first. */
  listWebhookDeliveries: ({ storage, webhook, query }) => {
    const where = { webhookId: webhook.id }
    // The event ids of an organization are in chronological order.
    const order = { sortBy: 'eventId', direction: 'desc' } as const
    return listPage(storage, 'webhookDelivery', { where, ...order, query })
  },
})

/** The dependencies of the use cases that write a webhook. */
interface WebhookServices {
  readonly webhookSender: WebhookSender
  /**
   * Encrypts the secrets; `undefined` if `secretKey` is not set, so that no webhook can be created.
   */
  readonly secretBox: SecretBox | undefined
}

/** Creates the use cases that write the URL or the secret of a webhook. */
export function createWebhookUseCases({ webhookSender, secretBox }: WebhookServices) {
  return defineUseCases({
    /**
     * Creates a webhook. Only this response contains `secret`, which signs its messages. Throws
     * `CONFLICT` if the organization has too many webhooks, and `UNAVAILABLE` without a
     * `secretKey`.
     */
    async createWebhook({ writer, organization, body }) {
      assertAllowed(webhookSender, body)
      const id = newId()
      const secret = newWebhookSecret()
      const sealedSecret = await requireBox(secretBox).seal(secret, { purpose: 'webhook', id })
      const { url, eventTypes, isActive = true } = body
      const orgId = organization.id
      const { total } = await writer.reader.list('webhook', { where: { orgId }, limit: 1 })
      if (total >= MOST_WEBHOOKS) {
        const message = `An organization can have at most ${MOST_WEBHOOKS} webhooks. Delete one first.`
        throw new FlagError('CONFLICT', message)
      }
      const fields = { orgId, url, eventTypes, isActive, failingSince: null, sealedSecret }
      const record = withoutSecret(await writer.insert('webhook', fields, id))
      const result = { ...record, secret }
      return completed('webhook.created', { after: record }, { result, shownOnce: 'secret' })
    },

    /** Changes a webhook. A new URL or a reactivation resets `failingSince`. */
    async updateWebhook({ writer, webhook: before, body, expectedRevision }) {
      assertAllowed(webhookSender, body)
      const isOther = body.url !== undefined && body.url !== before.url
      const resetsHealth = isOther || (body.isActive === true && !before.isActive)
      const changes = resetsHealth ? { ...body, failingSince: null } : body
      const after = await writer.update('webhook', before, changes, expectedRevision)
      return completed('webhook.updated', { before, after }, { result: withoutSecret(after) })
    },
  })
}

function withoutSecret({ sealedSecret: _, ...webhook }: Records['webhook']): Webhook {
  return webhook
}

/** Throws `INVALID_REQUEST` if the URL or an event type is not allowed. */
function assertAllowed(
  webhookSender: WebhookSender,
  { url, eventTypes = [] }: NewWebhook | WebhookChanges,
): void {
  const unknown = eventTypes.findIndex((each) => !isEventPattern(each))
  if (unknown !== -1)
    throw invalid(
      `event_types.${unknown}`,
      `is not an event type; use *, a resource such as flag.*, or one of ${WEBHOOK_EVENT_TYPES.join(', ')}`,
    )
  assertDistinct(eventTypes, (index) => `event_types.${index}`)
  const refusal = url === undefined ? undefined : webhookSender.refusalOf(url)
  if (refusal !== undefined) throw invalid('url', refusal)
}

function requireBox(secretBox: SecretBox | undefined): SecretBox {
  if (secretBox !== undefined) return secretBox
  const message = 'Webhooks need a secretKey. Set secretKey of createManagement, or FF_SECRET_KEY.'
  throw new FlagError('UNAVAILABLE', message)
}
