import type { Storage } from '@ff/storage'
import { postgres } from '@ff/storage/postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { sample } from '../../../storage/src/contract/samples/samples.ts'
import { reservePostgresSchema } from '../../../storage/test/postgres-schema.ts'
import type { WebhookSender } from '../../src/ports/webhook-sender.ts'
import { SecretBox } from '../../src/secrets/secret-box.ts'
import { parseSecretKeys } from '../../src/secrets/secret-keys.ts'
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.ts'
import { newWebhookSecret } from '../../src/webhooks/webhook-message.ts'
import { eventually, SECRET_KEY } from './hooked-server.ts'

const SECOND = 1000

/** A sender that records the ids of the messages, and responds after a short time. */
class RecordingSender implements WebhookSender {
  readonly sent: string[] = []

  refusalOf(): undefined {
    return undefined
  }

  async send({ headers }: Parameters<WebhookSender['send']>[0]) {
    this.sent.push(headers['webhook-id'] ?? '')
    await new Promise((resolve) => setTimeout(resolve, 5))
    return { status: 204, fault: null }
  }
}

describe('dispatchers with one PostgreSQL', () => {
  const secretBox = new SecretBox(parseSecretKeys(SECRET_KEY))
  const schema = reservePostgresSchema()
  const clock = new FakeClock()
  const dispatchers: WebhookDispatcher[] = []
  let storages: readonly [Storage, Storage]

  beforeEach(async () => {
    await schema.create()
    const open = () => postgres({ url: schema.url, listenUrl: false }).storage
    storages = [open(), open()]
    for (const storage of storages) await storage.migrate()
  })

  afterEach(async () => {
    for (const each of dispatchers.splice(0)) await each.stop()
    for (const storage of storages) await storage.close()
    await schema.drop()
  })

  const dispatcher = (storage: Storage, webhookSender: WebhookSender) => {
    const created = new WebhookDispatcher({
      ...{ storage, clock, logger: silentLogger, webhookSender, secretBox },
      switchOff: async () => undefined,
      jobsAreOff: async () => false,
    })
    dispatchers.push(created)
    return created
  }

  /** Queues deliveries to several webhooks, and returns their ids. */
  const queue = (webhooks: number, perWebhook: number) =>
    storages[0].transaction('set up', async (tx) => {
      const event = sample('auditEvent')
      const nextAttemptAt = new Date(clock.now()).toISOString()
      await tx.insert('auditEvent', event)
      const ids: string[] = []
      for (let count = 0; count < webhooks * perWebhook; count += 1) {
        const webhook = sample('webhook')
        const { id } = webhook
        if (count % perWebhook === 0) {
          const sealedSecret = await secretBox.seal(newWebhookSecret(), { purpose: 'webhook', id })
          await tx.insert('webhook', { ...webhook, sealedSecret })
          ids.push(id)
        }
        const fields = { webhookId: ids.at(-1) ?? '', eventId: event.id, attempts: 0 }
        await tx.insert('webhookDelivery', sample('webhookDelivery', { ...fields, nextAttemptAt }))
      }
      return (await tx.list('webhookDelivery', {})).data.map((each) => each.id).sort()
    })

  const delivered = async () =>
    (await storages[0].list('webhookDelivery', { where: { status: 'delivered' } })).data

  it('Two dispatchers send 200 deliveries exactly once, each of them a part', async () => {
    const ids = await queue(50, 4)
    const senders = [new RecordingSender(), new RecordingSender()] as const
    const both = senders.map((sender, at) => dispatcher(storages[at === 0 ? 0 : 1], sender))
    await eventually(
      async () => {
        await Promise.all(both.map((each) => each.run()))
        return delivered()
      },
      ({ length }) => length === ids.length,
    )
    const [first, second] = senders
    expect([...first.sent, ...second.sent].sort()).toEqual(ids)
    expect(first.sent.length).toBeGreaterThan(0)
    expect(second.sent.length).toBeGreaterThan(0)
    expect((await delivered()).every(({ attempts }) => attempts === 1)).toBe(true)
  })

  it('The deliveries of a dispatcher that is killed are sent when its claims have expired', async () => {
    const ids = await queue(10, 2)
    const never = () => new Promise<never>(() => undefined)
    const killed = dispatcher(storages[0], { refusalOf: () => undefined, send: never })
    // Its attempts never end, so it cannot be stopped.
    dispatchers.splice(0)
    await killed.run()
    const sender = new RecordingSender()
    const other = dispatcher(storages[1], sender)
    await clock.advance(30 * SECOND - 1)
    await other.run()
    expect(sender.sent).toEqual([])
    await clock.advance(1)
    await eventually(
      async () => {
        await other.run()
        return delivered()
      },
      ({ length }) => length === ids.length,
    )
    expect([...sender.sent].sort()).toEqual(ids)
    expect((await delivered()).every(({ attempts }) => attempts === 2)).toBe(true)
  })
})
