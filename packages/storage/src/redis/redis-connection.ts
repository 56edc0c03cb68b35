import { FlagError } from '@ff/core'
import { Redis } from 'ioredis'
import { redisFailed } from './redis-errors.ts'
import type { RedisSettings } from './redis-settings.ts'

/** The maximum time of a command. */
const COMMAND_MS = 250
/** The maximum time to open a connection. */
const CONNECT_MS = 1000
/** The time between two checks of the connection. */
const CHECK_INTERVAL_MS = 5000
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5000

/** The parts of a connection. */
interface RedisConnectionOptions {
  readonly settings: RedisSettings
  /** A command that succeeds if and only if the connection can be used. */
  readonly check: (client: Redis) => Promise<unknown>
  /** Called with the reason when the connection becomes unavailable, and when it is available. */
  readonly onStatus: (unavailable: FlagError | undefined) => void
}

/**
 * A connection that the first call opens, and that is opened again whenever it is lost. After a
 * failed command, all commands fail at once until a check succeeds. Thereby a server that does not
 * respond delays only the commands that it has already received.
 */
export class RedisConnection {
  /** The client, for listeners of its events. */
  readonly client: Redis
  readonly #options: RedisConnectionOptions
  /** The reason why commands fail; `undefined` if the connection can be used. */
  #unavailable: FlagError | undefined
  /** The last reported status. */
  #reported: 'nothing' | 'available' | 'unavailable' = 'nothing'
  /** An error of the client since it began to connect. */
  #error: unknown
  #attempts = 0
  #checking: Promise<void> | undefined
  #opened: Promise<void> | undefined
  #onOpened: () => void = () => undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #isClosed = false

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    this.#unavailable = redisFailed(undefined, options.settings.place)
    this.client = createClient(options.settings, () => this.#nextRetryMs())
    this.client.on('connecting', () => {
      this.#error = undefined
    })
    this.client.on('error', (error) => {
      this.#error = error
    })
    this.client.on('ready', () => {
      this.client.stream.unref()
      void this.#check()
    })
    this.client.on('close', () => this.#settle(this.#toFailure(this.#error ?? 'closed')))
  }

  /**
   * Opens the connection. Resolves when it can be used, when the first attempt has failed, or after the
   * maximum time of a command.
   */
  open(): Promise<void> {
    this.#opened ??= this.#open()
    return this.#opened
  }

  /**
   * Sends a command and returns its result. Throws `UNAVAILABLE` if it fails; at once if the
   * connection cannot be used.
   */
  async run<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    await this.open()
    if (this.#unavailable !== undefined) throw this.#unavailable
    try {
      return await command(this.client)
    } catch (error) {
      const failure = this.#toFailure(error)
      this.#unavailable = failure
      void this.#check()
      throw failure
    }
  }

  /** Opens the connection, and resolves with `true` unless it is known to be unavailable. */
  async isAvailable(): Promise<boolean> {
    await this.open()
    return this.#unavailable === undefined
  }

  /** Closes the connection. Later commands throw `UNAVAILABLE`. Can be called repeatedly. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#unavailable = new FlagError('UNAVAILABLE', 'The connection to Redis is closed.')
    clearInterval(this.#timer)
    this.client.disconnect()
    this.#onOpened()
  }

  async #open(): Promise<void> {
    if (this.#isClosed) return
    const late = setTimeout(() => this.#settle(this.#toFailure(this.#error)), COMMAND_MS)
    await new Promise<void>((resolve) => {
      this.#onOpened = resolve
      this.#timer = setInterval(() => void this.#check(), CHECK_INTERVAL_MS).unref()
      this.client.connect().catch(() => undefined)
    })
    clearTimeout(late)
  }

  /** Checks the connection, if it is open. One that cannot be used is closed, and opened again. */
  #check(): Promise<void> {
    this.#checking ??= this.#checkOnce().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #checkOnce(): Promise<void> {
    if (this.client.status !== 'ready') return
    try {
      // For example, an unknown database is an error of the client, which then uses another one.
      if (this.#error !== undefined) throw this.#error
      const { check } = this.#options
      // If the event loop was busy, the first attempt times out although there is a response.
      await check(this.client).catch(() => check(this.client))
      this.#attempts = 0
      this.#settle(undefined)
    } catch (error) {
      this.#settle(this.#toFailure(error))
      if (!this.#isClosed) this.client.disconnect(true)
    }
  }

  /** Sets the status, and reports it if it has changed. */
  #settle(unavailable: FlagError | undefined): void {
    if (this.#isClosed) return
    this.#unavailable = unavailable
    const status = unavailable === undefined ? 'available' : 'unavailable'
    const hasChanged = status !== this.#reported
    this.#reported = status
    if (hasChanged) this.#options.onStatus(unavailable)
    this.#onOpened()
  }

  #toFailure(error: unknown): FlagError {
    return redisFailed(error, this.#options.settings.place)
  }

  #nextRetryMs(): number {
    const wait = Math.min(FIRST_RETRY_MS * 2 ** this.#attempts, MAX_RETRY_MS)
    this.#attempts += 1
    return wait * (0.5 + Math.random())
  }
}

function createClient(settings: RedisSettings, retryStrategy: () => number): Redis {
  const { host, port, username, password, database, hasTls } = settings
  return new Redis({
    ...{ host, port, db: database, retryStrategy },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(hasTls && { tls: {} }),
    protocol: 2,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    disconnectTimeout: COMMAND_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // The checks find out more, and need fewer permissions.
    enableReadyCheck: false,
    disableClientInfo: true,
  })
}
