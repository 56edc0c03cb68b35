import { isFlagError } from '@ff/core'
import { isReadOnly, type Leases } from '@ff/storage'
import { type Cancel, type Clock, within } from './clock.ts'
import { CoalescedTask } from './coalesced-task.ts'
import type { Logger } from './logger.ts'

const NAME = 'jobs'

/** The interval at which an instance without the lease tries to take it. */
const TRY_EVERY_MS = 5000
/**
 * The time for which a claim lasts. If the holder ends without releasing the lease, the lease
 * expires within this time, and another instance takes it at its next try.
 */
const LEASE_MS = 5000
/** The interval at which the holder extends the lease, so that one of two claims can fail. */
const EXTEND_EVERY_MS = 2000
/** The maximum time that a closing server waits until the lease is released. */
const RELEASE_WITHIN_MS = 1000

interface JobLeaseOptions {
  readonly storage: Leases
  /** The id of this instance. */
  readonly holder: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The lease of the instance that runs the shared jobs of all instances with the same store. */
export class JobLease {
  readonly #options: JobLeaseOptions
  readonly #claiming = new CoalescedTask(() => this.#claim())
  /** The result of the last claim; `false` if the lease has expired since. */
  #isHolder = false
  /** The expiry of the lease, in the milliseconds of `monotonicNow`. */
  #expiresAt = Number.NEGATIVE_INFINITY
  #isFailing = false
  /** The time since which the store accepts no changes, in epoch milliseconds. */
  #readOnlySince: number | undefined
  #isStopped = false
  #cancelNext: Cancel | undefined

  constructor(options: JobLeaseOptions) {
    this.#options = options
  }

  /**
   * The time since which the store accepts no claims, because its database is read-only, in epoch
   * milliseconds; `undefined` if it accepted the last one.
   */
  get readOnlySince(): number | undefined {
    return this.#readOnlySince
  }

  /** Claims the lease now and periodically. Resolves after the first claim. Never rejects. */
  start(): Promise<void> {
    return this.#claimPeriodically()
  }

  /**
   * Resolves with `true` if this instance holds the lease. A lease that has expired, for example
   * because the process was suspended, is claimed again first. Never rejects.
   */
  async isHeld(): Promise<boolean> {
    if (this.#isHolder && this.#hasExpired()) await this.#claimOnce()
    return this.#isHolder
  }

  /** Stops claiming and releases the lease. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelNext?.()
    const { storage, holder, clock } = this.#options
    const release = async () => {
      await this.#claiming.pending
      if (this.#isHolder) await storage.releaseLease({ name: NAME, holder })
      this.#isHolder = false
    }
    // A lease that cannot be released expires.
    await within(release(), { clock, ms: RELEASE_WITHIN_MS }).catch(() => undefined)
  }

  async #claimPeriodically(): Promise<void> {
    const { clock } = this.#options
    const begunAt = clock.monotonicNow()
    await this.#claimOnce()
    if (this.#isStopped) return
    const everyMs = this.#isHolder ? EXTEND_EVERY_MS : TRY_EVERY_MS
    const delayMs = begunAt + everyMs - clock.monotonicNow()
    this.#cancelNext = clock.schedule(Math.max(0, delayMs), () => void this.#claimPeriodically())
  }

  /** Claims the lease, or waits for the claim in progress. */
  #claimOnce(): Promise<void> {
    return this.#claiming.pending ?? this.#claiming.run()
  }

  async #claim(): Promise<void> {
    const { storage, holder, clock, logger } = this.#options
    // Measured from before the claim, so that the lease does not expire earlier in the store.
    const expiresAt = clock.monotonicNow() + LEASE_MS
    const wasHolder = this.#isHolder
    try {
      this.#isHolder = await storage.claimLease({ name: NAME, holder, forMs: LEASE_MS })
      this.#expiresAt = expiresAt
      this.#isFailing = false
      if (this.#readOnlySince !== undefined) logger.warn('The store accepts changes again')
      this.#readOnlySince = undefined
    } catch (cause) {
      this.#isHolder &&= !this.#hasExpired()
      this.#report(cause)
    }
    if (wasHolder && !this.#isHolder && !this.#isStopped)
      logger.warn('The lease of the background jobs was lost')
  }

  #hasExpired(): boolean {
    return this.#options.clock.monotonicNow() >= this.#expiresAt
  }

  /**
   * Logs the first of several failures in a row. A store that is unavailable for reading too is not
   * logged here.
   */
  #report(cause: unknown): void {
    const { logger, clock } = this.#options
    if (isReadOnly(cause) && this.#readOnlySince === undefined) {
      this.#readOnlySince = clock.now()
      logger.warn('The store accepts no changes, and background jobs wait until it does', { cause })
    }
    const isUnavailable = isFlagError(cause) && cause.code === 'UNAVAILABLE'
    if (isUnavailable || this.#isFailing) return
    this.#isFailing = true
    logger.error('The lease of the background jobs could not be claimed', { cause })
  }
}
