import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type {
  ChangeFeed,
  ChangeListener,
  FlagSetChange,
  Resync,
  Unsubscribe,
} from '../ports/change-feed.ts'
import { storeClosed } from '../ports/record-errors.ts'
import type { PostgresDriver } from './postgres-driver.ts'
import { connectionFailed, isTooMany } from './postgres-errors.ts'
import { placeOf } from './postgres-url.ts'

/** The channel of the notifications. */
const CHANNEL = 'ff_change'
/** The time for which changes are collected and then sent as one notification. */
const COLLECTION_MS = 20
/** The maximum size of a payload; PostgreSQL permits 7999 bytes. */
const MAX_PAYLOAD_BYTES = 7900

/** The time between two checks of the connection. */
const CHECK_INTERVAL_MS = 15_000
/** The time between two checks whether notifications arrive. */
const DELIVERY_INTERVAL_MS = 60_000
/** The time within which a notification arrives. */
const DELIVERY_WITHIN_MS = 2000
/** The time for which the connection stays closed for the calls of the process. */
const GIVEN_WAY_MS = 10_000
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5000

type Change = FlagSetChange | Resync

/** The parts of a change feed. */
export interface PostgresChangeFeedOptions {
  readonly listenUrl: string
  readonly connectTimeoutMs: number
  /** The driver that sends notifications. */
  readonly driver: PostgresDriver
  readonly onWarning: (message: string) => void
}

/** Changes that will be sent as one notification. */
interface Batch {
  readonly changes: Change[]
  readonly sent: Promise<void>
}

/**
 * A change feed with `LISTEN` and `NOTIFY`. One connection listens as soon as there is a listener.
 * If it is lost, it is opened again, and the listeners then receive `resync`.
 */
export class PostgresChangeFeed implements ChangeFeed {
  readonly #options: PostgresChangeFeedOptions
  readonly #subscriptions = new Set<{ readonly listener: ChangeListener }>()
  #batch: Batch | undefined
  #client: Client | undefined
  /** The time until which no connection is opened. */
  #quietUntil = Number.NEGATIVE_INFINITY
  #listening: Promise<void> | undefined
  /** The channel of the notifications with which this instance checks that they arrive. */
  readonly #checkChannel = `ff_check_${randomUUID().replaceAll('-', '')}`
  #onArrival: () => void = () => undefined
  /** `true` if a notification has arrived. */
  #hasDelivered = false
  #hasWarned = false
  #isClosed = false

  constructor(options: PostgresChangeFeedOptions) {
    this.#options = options
  }

  async publish(change: FlagSetChange): Promise<void> {
    if (this.#isClosed) throw storeClosed()
    this.#batch ??= this.#newBatch()
    this.#batch.changes.push(change)
    return this.#batch.sent
  }

  async subscribe(listener: ChangeListener): Promise<Unsubscribe> {
    if (this.#isClosed) throw storeClosed()
    this.#listening ??= this.#listen().catch((error: unknown) => {
      if (!isTooMany(error)) throw error
      // Until there is a connection, readers find changes by their version.
      void this.#listenAgain()
    })
    try {
      await this.#listening
    } catch (error) {
      this.#listening = undefined
      throw error
    }
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    return () => {
      this.#subscriptions.delete(subscription)
    }
  }

  /**
   * Closes the connection and opens it again after a while, because the calls of this process have
   * none. Returns `false` if there is none.
   */
  async giveWay(): Promise<boolean> {
    const client = this.#client
    if (client === undefined || this.#isClosed) return false
    this.#client = undefined
    this.#quietUntil = performance.now() + GIVEN_WAY_MS
    await client.end().catch(() => undefined)
    return true
  }

  /** Sends the collected changes and closes the connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#batch?.sent.catch(() => undefined)
    await this.#listening?.catch(() => undefined)
    if (this.#client === undefined) return
    // The process must not end before the connection does.
    socketOf(this.#client).ref()
    await this.#client.end()
  }

  #newBatch(): Batch {
    const changes: Change[] = []
    const collected = new Promise((resolve) => setTimeout(resolve, COLLECTION_MS))
    const sent = collected.then(async () => {
      this.#batch = undefined
      const notifications = payloadsOf(changes).map((payload) => {
        return { sql: 'select pg_notify($1, $2)', parameters: [CHANNEL, payload] }
      })
      await this.#options.driver.write(notifications)
    })
    return { changes, sent }
  }

  /** Opens the connection. Throws `UNAVAILABLE` if this fails. */
  async #listen(): Promise<void> {
    const { listenUrl, connectTimeoutMs } = this.#options
    const client = new Client({
      connectionString: listenUrl,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: connectTimeoutMs,
      keepAlive: true,
    })
    // Before the end of a connection, there can be an error.
    client.on('error', () => undefined)
    try {
      await client.connect()
      client.on('notification', ({ channel, payload = '' }) => {
        if (channel === this.#checkChannel) this.#onArrival()
        else this.#receive(payload)
      })
      await client.query(`listen ${CHANNEL}; listen ${this.#checkChannel}`)
    } catch (error) {
      await client.end().catch(() => undefined)
      throw connectionFailed(error, { name: 'listenUrl', place: placeOf('listenUrl', listenUrl) })
    }
    if (this.#isClosed) {
      await client.end()
      throw storeClosed()
    }
    const socket = socketOf(client)
    socket.unref()
    const check = setInterval(() => {
      // A connection that does not respond is closed, and then opened again.
      client.query('select 1').catch(() => socket.destroy())
    }, CHECK_INTERVAL_MS).unref()
    const delivery = setInterval(
      () => void this.#checkDelivery(socket),
      DELIVERY_INTERVAL_MS,
    ).unref()
    void this.#checkDelivery(socket)
    client.on('end', () => {
      clearInterval(check)
      clearInterval(delivery)
      if (!this.#isClosed) void this.#listenAgain()
    })
    this.#client = client
  }

  /**
   * Checks that a notification arrives. If it does not, the connection is opened again, unless no
   * notification has ever arrived, which a pooler in front of the database causes.
   */
  async #checkDelivery(socket: Socket): Promise<void> {
    const arrived = new Promise<true>((resolve) => {
      this.#onArrival = () => resolve(true)
    })
    try {
      await this.#options.driver.write([
        { sql: 'select pg_notify($1, $2)', parameters: [this.#checkChannel, ''] },
      ])
    } catch {
      // Nothing was sent, for example because the database is away.
      return
    }
    const hasArrived = await Promise.race([
      arrived,
      delay(DELIVERY_WITHIN_MS, false, { ref: false }),
    ])
    if (this.#isClosed || socket.destroyed) return
    if (hasArrived) this.#hasDelivered = true
    else if (this.#hasDelivered) socket.destroy()
    else this.#warn()
  }

  #warn(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { listenUrl, onWarning } = this.#options
    const place = placeOf('listenUrl', listenUrl)
    onWarning(
      `\`listenUrl\`: Notifications of PostgreSQL at ${place} do not arrive, so that changes reach other instances after up to ten seconds. A connection pooler in the mode "transaction" does not support LISTEN: use the URL of the database without the pooler.`,
    )
  }

  async #listenAgain(): Promise<void> {
    for (let wait = FIRST_RETRY_MS; !this.#isClosed; wait = Math.min(wait * 2, MAX_RETRY_MS)) {
      const quietMs = this.#quietUntil - performance.now()
      await delay(Math.max(quietMs, wait * (0.5 + Math.random())), undefined, { ref: false })
      try {
        await this.#listen()
        this.#notify({ type: 'resync' })
        return
      } catch {
        // The next attempt follows. Until it succeeds, readers find changes by their version.
      }
    }
  }

  #receive(payload: string): void {
    for (const change of changesIn(payload)) this.#notify(change)
  }

  #notify(change: Change): void {
    for (const { listener } of [...this.#subscriptions]) {
      try {
        listener(change)
      } catch {
        // A listener's error must not reach the publisher or the other listeners.
      }
    }
  }
}

function socketOf(client: Client): Socket {
  return client.connection.stream as Socket
}

/**
 * Returns the payloads of notifications with these changes. A change that is too large for a
 * notification is replaced by `resync`.
 */
function payloadsOf(changes: readonly Change[]): readonly string[] {
  const texts = new Set(changes.map(payloadPart))
  const payloads: string[] = []
  let parts: string[] = []
  let size = 0
  for (const text of texts) {
    const bytes = Buffer.byteLength(text) + 1
    if (parts.length > 0 && size + bytes > MAX_PAYLOAD_BYTES) {
      payloads.push(`[${parts.join(',')}]`)
      parts = []
      size = 0
    }
    parts.push(text)
    size += bytes
  }
  return [...payloads, `[${parts.join(',')}]`]
}

function payloadPart(change: Change): string {
  const text = JSON.stringify(change)
  const isTooLarge = Buffer.byteLength(text) > MAX_PAYLOAD_BYTES - 2
  return isTooLarge ? JSON.stringify({ type: 'resync' }) : text
}

/** Returns the changes of a notification; `resync` if another program has sent it. */
function changesIn(payload: string): readonly Change[] {
  try {
    const changes: unknown = JSON.parse(payload)
    if (Array.isArray(changes)) return changes
  } catch {
    // The payload is not JSON.
  }
  return [{ type: 'resync' }]
}
