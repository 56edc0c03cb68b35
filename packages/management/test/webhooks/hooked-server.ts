import type { Webhook, WebhookDelivery } from '@ff/protocol/management'
import { memory, type Storage } from '@ff/storage'
import { type LogFields, type Logger, silentLogger } from '../../../server/src/runtime/logger.ts'
import { FakeClock, settle } from '../../../server/test/fake-clock.ts'
import type { ChangeCall } from '../../src/changes/apply-change.ts'
import { PublishCheck } from '../../src/changes/publish-check.ts'
import { NodeWebhookSender } from '../../src/node/webhook-sender.ts'
import { projectUseCases } from '../../src/organizations/projects.ts'
import type { WebhookSender } from '../../src/ports/webhook-sender.ts'
import { SecretBox } from '../../src/secrets/secret-box.ts'
import { parseSecretKeys } from '../../src/secrets/secret-keys.ts'
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'

const ACTOR = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const

/** The `secretKey` of these servers. */
export const SECRET_KEY = 'a5'.repeat(32)

/** A server with one organization that sends webhooks to this machine. */
export class HookedServer {
  readonly flags: ManagedServer
  readonly storage: Storage
  /**
   * A clock that starts at the real time, because receivers compare timestamps with the real time.
   */
  readonly clock: FakeClock
  readonly errors: [string, LogFields | undefined][] = []
  /**
   * The dispatcher of another instance over the same store, which runs only when a test calls it.
   */
  readonly instance: WebhookDispatcher
  orgId = ''
  readonly #logger: Logger

  constructor(
    storage: Storage,
    { clock = new FakeClock(Date.now()), secretKey = SECRET_KEY } = {},
  ) {
    this.storage = storage
    this.clock = clock
    const error = (message: string, fields?: LogFields) => void this.errors.push([message, fields])
    this.#logger = { ...silentLogger, error }
    const logger = this.#logger
    const webhooks = { allowLoopback: true }
    this.flags = createManagedServer({ storage, clock, logger, secretKey, webhooks })
    this.instance = this.dispatcher(new NodeWebhookSender({ allowLoopback: true }), secretKey)
  }

  /** Creates the dispatcher of another instance with a different sender. */
  dispatcher(webhookSender: WebhookSender, secretKey = SECRET_KEY): WebhookDispatcher {
    const { storage, clock } = this
    return new WebhookDispatcher({
      ...{ storage, clock, webhookSender, logger: this.#logger },
      secretBox: new SecretBox(parseSecretKeys(secretKey)),
      jobsAreOff: async () => false,
      switchOff: ({ id: webhookId, orgId, revision: expectedRevision }) => {
        const params = { orgId, webhookId }
        return this.management.updateWebhook({
          params,
          body: { isActive: false },
          expectedRevision,
        })
      },
    })
  }

  get management() {
    return this.flags.as(ACTOR)
  }

  async start(): Promise<this> {
    await this.flags.start()
    return this
  }

  async addOrganization(name = 'Acme'): Promise<string> {
    this.orgId = (await this.management.createOrganization({ body: { name } })).id
    return this.orgId
  }

  /** Adds a webhook to the organization that was added last. */
  addWebhook(
    url: string,
    eventTypes: readonly string[] = ['project.*'],
  ): Promise<Webhook & { readonly secret: string }> {
    const params = { orgId: this.orgId }
    return this.management.createWebhook({ params, body: { url, eventTypes: [...eventTypes] } })
  }

  /** Makes a change with the event `project.created`. */
  change(comment?: string): Promise<unknown> {
    return this.management.createProject({ ...this.#newProject(), comment })
  }

  /** Makes a change in an instance that ends before it can send anything. */
  changeAndDie(): Promise<unknown> {
    return this.changeIn({})
  }

  /** Makes a change in a call with additional fields, without a dispatcher. */
  changeIn(call: Partial<ChangeCall>): Promise<unknown> {
    const { storage, clock } = this
    const services = {
      ...{ storage, clock, logger: silentLogger, changeFeed: memory().changeFeed },
      publishCheck: new PublishCheck(),
      wakeWebhooks: () => undefined,
      instance: { serve: async () => undefined, writeUsage: async () => undefined },
    }
    return projectUseCases.createProject(services, { actor: ACTOR, ...call }, this.#newProject())
  }

  #newProject() {
    return { params: { orgId: this.orgId }, body: { key: `p-${crypto.randomUUID()}` } }
  }

  async deliveries(where: Partial<WebhookDelivery> = {}): Promise<readonly WebhookDelivery[]> {
    const sort = { field: 'eventId', direction: 'asc' } as const
    return (await this.storage.list('webhookDelivery', { where, sort })).data
  }

  async webhook(id: string): Promise<Webhook> {
    const found = await this.storage.find('webhook', id)
    if (found === undefined) throw new Error('The webhook does not exist.')
    return found
  }

  /** Waits, in real time, until no attempt is in progress. Returns all deliveries. */
  async settled(): Promise<readonly WebhookDelivery[]> {
    const soon = new Date(this.clock.now() + 1).toISOString()
    return eventually(
      () => this.deliveries(),
      (all) =>
        all.every(({ status, nextAttemptAt, lastStatus, lastError }) => {
          if (status !== 'pending') return true
          const wasTried = lastStatus !== null || lastError !== null
          return wasTried && nextAttemptAt !== null && nextAttemptAt > soon
        }),
    )
  }

  /** Advances the clock and sends due deliveries, as every instance does periodically. */
  async after(ms: number): Promise<void> {
    this.clock.set(this.clock.now() + ms)
    await this.instance.run()
  }

  /** Advances the clock to the next retries. Returns all deliveries after them. */
  async retry(): Promise<readonly WebhookDelivery[]> {
    const pending = await this.deliveries({ status: 'pending' })
    const due = pending.map(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? ''))
    await this.after(Math.max(...due) - this.clock.now())
    return this.settled()
  }

  async close(): Promise<void> {
    await this.instance.stop()
    await this.flags.close()
  }
}

/**
 * Calls `find` until `isSo` returns `true` for its result, and returns it. Throws after a minute.
 */
export async function eventually<T>(
  find: () => Promise<T>,
  isSo: (found: T) => boolean,
): Promise<T> {
  for (const start = Date.now(); ; await settle()) {
    const found = await find()
    if (isSo(found)) return found
    if (Date.now() - start > 60_000)
      throw new Error(`The condition was not met within a minute: ${JSON.stringify(found)}`)
  }
}
