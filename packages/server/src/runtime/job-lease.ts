import { isFlagError } from '@ff/core'
import {
  activateStore,
  COPY_HOLDER,
  isReadOnly,
  JOBS_LEASE,
  type Leases,
  type Storage,
} from '@ff/storage'
import { type Cancel, type Clock, within } from './clock.ts'
import { CoalescedTask } from './coalesced-task.ts'
import type { Logger } from './logger.ts'
import { withTransaction } from './wrapped-storage.ts'

/** The interval at which an instance without the lease tries to take it. */
const TRY_EVERY_MS = 5000
/**
 * The time for which a claim lasts. If the holder ends without releasing the lease, the lease
 * expires within this time, and another instance takes it at its next try.
 */
const LEASE_MS = 5000
/** The interval at which the holder extends the lease, so that one of two claims can fail. */
const EXTEND_EVERY_MS = 2000
/** The interval of claims while the store accepts none, so that its recovery is found soon. */
const RETRY_EVERY_MS = 1000
/** The maximum time that a closing server waits until the lease is released. */
const RELEASE_WITHIN_MS = 1000

/**
 * Whether a server runs background jobs, such as scheduled changes, webhooks and the deletion of old
 * records. `on`: it does, unless the store is a copy of another that was not activated. `off`: it
 * does not. `activate`: it activates the store first, because the store is no copy any more.
 */
export type JobsMode = 'on' | 'off' | 'activate'

const OFF = 'background jobs are off: scheduled changes are not applied, and webhooks are not sent'
const COPY = `The store is a copy that is not active, so ${OFF}. If it takes the place of the original, activate it: activateStore(storage), FF_JOBS=1, or the command "activate"`

interface JobLeaseOptions {
  readonly storage: Leases
  readonly jobs: JobsMode
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
  /** `true` after the store was found to be a copy or not. An active store stays active. */
  #isChecked = false
  /** `true` if the store was a copy that was not active when it was checked. */
  #isCopy = false
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
  async start(): Promise<void> {
    const { jobs, logger } = this.#options
    if (jobs === 'off') logger.warn(`In this process, ${OFF}`)
    else await this.#claimPeriodically()
  }

  /**
   * Resolves with `true` if no shared work may be done with this store in this process, not even the
   * work that its own changes cause. Rejects if the store cannot be read.
   */
  async isOff(): Promise<boolean> {
    const { jobs, storage } = this.#options
    if (jobs === 'off') return true
    return !this.#isHolder && (await storage.findLeaseHolder(JOBS_LEASE)) === COPY_HOLDER
  }

  /**
   * Resolves with `true` if this instance holds the lease. A lease that has expired, for example
   * because the process was suspended, is claimed again first. Never rejects.
   */
  async isHeld(): Promise<boolean> {
    if (this.#isHolder && this.#hasExpired()) await this.#claimOnce()
    return this.#isHolder
  }

  /** Returns the store. A change that it refuses because it is read-only is noted at once. */
  watch(storage: Storage): Storage {
    return withTransaction(storage, (lock, work) =>
      storage.transaction(lock, work).catch((error: unknown) => {
        if (isReadOnly(error) && this.#cancelNext !== undefined) this.#noteRefusal(error)
        throw error
      }),
    )
  }

  /** Stops claiming and releases the lease. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelNext?.()
    const { storage, holder, clock } = this.#options
    const release = async () => {
      await this.#claiming.pending
      if (this.#isHolder) await storage.releaseLease({ name: JOBS_LEASE, holder })
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
    const usualMs = this.#isHolder ? EXTEND_EVERY_MS : TRY_EVERY_MS
    const everyMs = this.#readOnlySince === undefined ? usualMs : RETRY_EVERY_MS
    this.#claimAfter(begunAt + everyMs - clock.monotonicNow())
  }

  #claimAfter(delayMs: number): void {
    const claim = () => void this.#claimPeriodically()
    this.#cancelNext = this.#options.clock.schedule(Math.max(0, delayMs), claim)
  }

  /** Notes that the store is read-only, and claims the lease soon to find out when it is not. */
  #noteRefusal(cause: unknown): void {
    if (this.#readOnlySince !== undefined || this.#isStopped) return
    this.#report(cause)
    this.#cancelNext?.()
    this.#claimAfter(RETRY_EVERY_MS)
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
      const claim = () => storage.claimLease({ name: JOBS_LEASE, holder, forMs: LEASE_MS })
      this.#isHolder = (await claim()) || ((await this.#isActivated()) && (await claim()))
      this.#expiresAt = expiresAt
      if (this.#isHolder && this.#isCopy) {
        logger.info('The store was activated, and background jobs run')
        this.#isCopy = false
      }
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

  /**
   * Finds out, once, whether the store is a copy that is not active. Returns `true` if this server
   * has activated it.
   */
  async #isActivated(): Promise<boolean> {
    const { storage, jobs, logger } = this.#options
    if (this.#isChecked) return false
    const isActivated = jobs === 'activate' && (await activateStore(storage))
    this.#isCopy = isActivated || (await storage.findLeaseHolder(JOBS_LEASE)) === COPY_HOLDER
    this.#isChecked = true
    if (this.#isCopy && !isActivated) logger.warn(COPY)
    return isActivated
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
