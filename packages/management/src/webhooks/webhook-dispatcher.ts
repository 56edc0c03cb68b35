import { isFlagError } from '@ff/core'
import { type Clock, CoalescedTask, type Job, type Logger } from '@ff/server/plane'
import type { Records, Storage } from '@ff/storage'
import { systemActor } from '../access/actors.ts'
import type { WebhookAnswer, WebhookSender } from '../ports/webhook-sender.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { messageOf, signedHeaders } from './webhook-message.ts'

type Delivery = Records['webhookDelivery']
type Webhook = Records['webhook']

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * The interval at which one of the instances looks for due deliveries, such as retries and
 * deliveries of instances that have ended.
 */
const LOOK_EVERY_MS = 2 * SECOND
/** The maximum number of concurrent messages. */
const MOST_AT_ONCE = 32
/** The maximum number of concurrent messages to one webhook. */
const MOST_TO_ONE = 4
/** The maximum number of due deliveries that one claim reads. */
const MOST_LOOKED_AT = 200
/**
 * The delay of a delivery to a busy webhook, so that it does not block deliveries to other
 * webhooks.
 */
const STEP_ASIDE_MS = 5 * SECOND
/**
 * The time after which a claimed delivery without a result is attempted again, because the process
 * that claimed it has probably ended. It is several times as long as the time limit of an attempt.
 */
const CLAIM_MS = 30 * SECOND
/**
 * The waits, in milliseconds, after the first, the second, … failed attempt. The last wait is
 * followed by the last attempt.
 */
const RETRY_AFTER_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  24 * HOUR,
] as const
/**
 * The maximum random extension of a wait, as a fraction of the wait, so that retries do not
 * coincide.
 */
const SPREAD = 0.25
const SWITCH_OFF_AFTER_MS = 5 * DAY
const KEEP_DELIVERIES_MS = 7 * DAY

/** The actor that deactivates failing webhooks. */
export const DISPATCHER = systemActor('webhooks', 'Webhooks')

interface DispatcherServices {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  readonly webhookSender: WebhookSender
  readonly secretBox: SecretBox | undefined
  /** Resolves with `true` if no delivery may be sent from this store. */
  jobsAreOff(): Promise<boolean>
  /** Deactivates a webhook that has failed for too long, by calling its use case. */
  switchOff(webhook: Webhook): Promise<unknown>
}

/**
 * Sends the queued deliveries of webhooks. Several instances can send deliveries concurrently,
 * because each instance claims its deliveries. A claim ends after `CLAIM_MS`. Each instance sends
 * what its own changes have queued. The job, which one instance runs, sends the rest.
 */
export class WebhookDispatcher implements Job {
  readonly name = 'send webhooks'
  readonly everyMs = LOOK_EVERY_MS
  readonly isShared = true
  readonly #services: DispatcherServices
  readonly #looking = new CoalescedTask(() => this.#sendDue())
  readonly #sending = new Set<Promise<void>>()
  /** The number of messages that are being sent, by webhook id. */
  readonly #busy = new Map<string, number>()
  #isStopped = false

  constructor(services: DispatcherServices) {
    this.#services = services
  }

  /**
   * Starts to send due deliveries, up to the limits. Resolves before the responses are received.
   */
  run(): Promise<void> {
    return this.#looking.run()
  }

  /** Starts to send due deliveries immediately. Logs a failure. */
  wake(): void {
    this.run().catch((cause: unknown) => {
      this.#services.logger.warn('Due webhook deliveries could not be read', { cause })
    })
  }

  /** Stops the dispatcher. Resolves when the attempts that were in progress have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#looking.pending?.catch(() => undefined)
    await Promise.all(this.#sending)
  }

  async #sendDue(): Promise<void> {
    const { storage } = this.#services
    const limit = MOST_AT_ONCE - this.#sending.size
    if (this.#isStopped || limit <= 0 || !(await this.#isAnyDue())) return
    if (await this.#services.jobsAreOff()) return
    const claimed = await storage.claimDeliveries({
      now: this.#timestampIn(0),
      expiresAt: this.#timestampIn(CLAIM_MS),
      ...{ limit, limitPerWebhook: MOST_TO_ONE, readLimit: MOST_LOOKED_AT },
      inProgress: Object.fromEntries(this.#busy),
      postponedTo: this.#timestampIn(STEP_ASIDE_MS),
    })
    for (const delivery of claimed) this.#begin(delivery)
  }

  /** Reads the store first, because a claim needs a transaction that writes. */
  async #isAnyDue(): Promise<boolean> {
    const { data } = await this.#services.storage.list('webhookDelivery', {
      where: { status: 'pending' },
      // The end of a range is exclusive.
      range: { field: 'nextAttemptAt', to: this.#timestampIn(1) },
      sort: { field: 'nextAttemptAt', direction: 'asc' },
      limit: 1,
      isCounted: false,
    })
    return data.length > 0
  }

  #begin(delivery: Delivery): void {
    const { id, webhookId } = delivery
    this.#busy.set(webhookId, (this.#busy.get(webhookId) ?? 0) + 1)
    const sending = this.#deliver(delivery)
      .catch((cause: unknown) => {
        const message = 'The result of a webhook delivery could not be stored'
        this.#services.logger.warn(message, { delivery: id, cause })
      })
      .then(() => {
        this.#sending.delete(sending)
        const others = (this.#busy.get(webhookId) ?? 1) - 1
        if (others === 0) this.#busy.delete(webhookId)
        else this.#busy.set(webhookId, others)
        this.wake()
      })
    this.#sending.add(sending)
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { storage, clock } = this.#services
    const webhook = await storage.find('webhook', delivery.webhookId)
    if (webhook === undefined || !webhook.isActive) {
      const fields = { status: 'failed', nextAttemptAt: null, lastError: 'inactive' } as const
      return this.#keep(delivery, fields)
    }
    const begunAt = clock.now()
    const { status: lastStatus, fault: lastError } = await this.#attempt(delivery, webhook)
    const durationMs = Math.max(0, Math.round(clock.now() - begunAt))
    const next = lastError === null ? DELIVERED : this.#afterFailure(delivery)
    if (lastError !== 'internal') await this.#keepHealth(webhook, lastError === null)
    await this.#keep(delivery, { ...next, lastStatus, lastError, durationMs })
  }

  async #attempt({ id, eventId }: Delivery, webhook: Webhook): Promise<WebhookAnswer> {
    const { storage, clock, logger, secretBox, webhookSender } = this.#services
    try {
      const event = await storage.find('auditEvent', eventId)
      if (event === undefined) throw new Error('The audit event of the delivery does not exist.')
      if (secretBox === undefined) throw new Error('secretKey is not set.')
      const sealedFor = { purpose: 'webhook', id: webhook.id }
      const secret = await secretBox.open(webhook.sealedSecret, sealedFor)
      const body = messageOf(event)
      const headers = await signedHeaders({ id, at: clock.now(), body }, secret)
      return await webhookSender.send({ url: webhook.url, headers, body })
    } catch (cause) {
      logger.error('A webhook message could not be created', { webhook: webhook.id, cause })
      return { status: null, fault: 'internal' }
    }
  }

  #afterFailure({ attempts }: Delivery): Pick<Delivery, 'status' | 'nextAttemptAt'> {
    const waitMs = RETRY_AFTER_MS[attempts - 1]
    if (waitMs === undefined) return { status: 'failed', nextAttemptAt: null }
    const spreadMs = waitMs * SPREAD * Math.random()
    return { status: 'pending', nextAttemptAt: this.#timestampIn(waitMs + spreadMs) }
  }

  /**
   * Stores the result of an attempt, unless another instance has claimed the delivery meanwhile. The
   * lock is that of the delivery only, and the record is held because claims have no lock.
   */
  #keep({ id, attempts }: Delivery, fields: Partial<Delivery>): Promise<void> {
    return this.#services.storage.transaction(id, async (session) => {
      const present = await session.hold('webhookDelivery', id)
      if (present?.attempts === attempts) await session.update('webhookDelivery', id, fields)
    })
  }

  /**
   * Stores the health of a webhook, and deactivates a webhook that has failed for too long. Only
   * deactivation is audited and changes the revision.
   */
  async #keepHealth(webhook: Webhook, isGood: boolean): Promise<void> {
    const { storage, clock } = this.#services
    const { id, failingSince, revision } = webhook
    try {
      if (isGood) {
        if (failingSince !== null)
          await storage.update('webhook', id, { failingSince: null }, revision)
      } else if (failingSince === null) {
        await storage.update('webhook', id, { failingSince: this.#timestampIn(0) }, revision)
      } else if (clock.now() - Date.parse(failingSince) >= SWITCH_OFF_AFTER_MS) {
        await this.#services.switchOff(webhook)
      }
    } catch (error) {
      // The webhook was deleted or changed meanwhile. The next delivery updates the health.
      if (!isFlagError(error) || (error.code !== 'NOT_FOUND' && error.code !== 'CONFLICT'))
        throw error
    }
  }

  #timestampIn(ms: number): string {
    return new Date(this.#services.clock.now() + ms).toISOString()
  }
}

const DELIVERED = { status: 'delivered', nextAttemptAt: null } as const

/** Creates the job that deletes deliveries older than seven days. */
export function oldDeliveriesJob(storage: Storage, clock: Clock): Job {
  return {
    name: 'delete old webhook deliveries',
    everyMs: HOUR,
    isShared: true,
    async run() {
      const to = new Date(clock.now() - KEEP_DELIVERIES_MS).toISOString()
      await storage.purge('webhookDelivery', { range: { field: 'createdAt', to } })
    },
  }
}
