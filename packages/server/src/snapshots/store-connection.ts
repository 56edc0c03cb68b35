import type { Storage } from '@ff/storage'
import { type Cancel, type Clock, within } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'

/** The time for which the start waits for the store if the server can serve a saved state. */
const CONNECT_WITHIN_MS = 250
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5000

/**
 * The maximum duration of the query that checks the store. If the query takes longer, the store
 * counts as unavailable.
 */
const CHECK_WITHIN_MS = 2000

/**
 * `stale` if the store is unavailable, with the last time at which it was read. `read-only` if the
 * store can be read, but accepts no changes, with the time at which it refused one for the first
 * time.
 */
type StoreStatus =
  | { readonly status: 'ready' }
  | { readonly status: 'stale' | 'read-only'; readonly since: string }

interface StoreConnectionOptions {
  readonly storage: Storage
  /** The last time at which the store was read, in epoch milliseconds. */
  readonly keys: { readonly checkedAt: number }
  /** `readOnlySince` is the time since which the store accepts no changes, in epoch milliseconds. */
  readonly jobs: { readonly readOnlySince: number | undefined }
  /** Prepares the store and reads from it what the server needs. Called again if it rejects. */
  readonly connect: () => Promise<void>
  /** Loads the saved state, and resolves with `true` if the server can serve it. */
  readonly restore: () => Promise<boolean>
  /** Called if the server begins to serve the saved state, because the store is unavailable. */
  readonly onRestored: () => void
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Connects a server to its store. If the store is unavailable and the server has a saved state, the
 * server serves this state, and the connection is established in the background.
 */
export class StoreConnection {
  readonly #options: StoreConnectionOptions
  #isConnected = false
  #isStopped = false
  /** The last failure. It is kept so that a repeated failure is logged only once. */
  #failure: string | undefined
  #cancelRetry: Cancel | undefined

  constructor(options: StoreConnectionOptions) {
    this.#options = options
  }

  /**
   * Resolves when the server can serve requests. Rejects if the store is unavailable and there is no
   * saved state.
   */
  async start(): Promise<void> {
    const { restore, onRestored, clock, logger } = this.#options
    const hasState = await restore()
    const connecting = this.#connect()
    if (!hasState) return connecting
    const attempted = connecting.catch((cause: unknown) => this.#report(cause))
    await within(attempted, { clock, ms: CONNECT_WITHIN_MS })
    if (this.#isConnected) return
    logger.warn('The store is not available yet; the saved flag sets are served')
    onRestored()
    void attempted.then(() => this.#retryAfter(FIRST_RETRY_MS))
  }

  /** Checks the store. A server whose store is unavailable still evaluates. */
  async readStatus(): Promise<StoreStatus> {
    const { storage, keys, jobs, clock } = this.#options
    const responded = storage.list('organization', { limit: 1 }).then(
      () => this.#isConnected,
      () => false,
    )
    if (!(await within(responded, { clock, ms: CHECK_WITHIN_MS })))
      return { status: 'stale', since: new Date(keys.checkedAt).toISOString() }
    if (jobs.readOnlySince === undefined) return { status: 'ready' }
    return { status: 'read-only', since: new Date(jobs.readOnlySince).toISOString() }
  }

  /** Stops further attempts. */
  stop(): void {
    this.#isStopped = true
    this.#cancelRetry?.()
  }

  async #connect(): Promise<void> {
    await this.#options.connect()
    this.#isConnected = true
  }

  #retryAfter(delayMs: number): void {
    if (this.#isConnected || this.#isStopped) return
    const { clock, logger } = this.#options
    // Instances that start together spread their attempts.
    this.#cancelRetry = clock.schedule(delayMs * (0.5 + Math.random() / 2), () => {
      this.#connect().then(
        () => logger.info('The store is available again'),
        (cause: unknown) => {
          this.#report(cause)
          this.#retryAfter(Math.min(2 * delayMs, LONGEST_RETRY_MS))
        },
      )
    })
  }

  /** Logs an error, unless the last attempt has failed for the same reason. */
  #report(cause: unknown): void {
    const failure = String(cause)
    if (failure === this.#failure || this.#isStopped) return
    this.#failure = failure
    this.#options.logger.error('The server cannot connect to its store and will try again', {
      cause,
    })
  }
}
