import { isFlagError } from '@ff/core'
import type { Cancel, Clock } from './clock.ts'
import type { JobLease } from './job-lease.ts'
import type { Logger } from './logger.ts'

/** A task that is repeated, such as the deletion of old records. */
export interface Job {
  /** The name in logs and metrics, such as `delete old contexts`. */
  readonly name: string
  /** Milliseconds from the end of one run to the beginning of the next. */
  readonly everyMs: number
  /**
   * `true` if one of the instances with the same store runs the job for all of them; `false` if
   * each instance runs it.
   */
  readonly isShared: boolean
  /**
   * Does the work. Two instances can run a shared job at the same time, for example when one takes
   * over from another. Work that must be done once therefore needs a check in its transaction. If
   * several runs in a row fail, only the first error is logged. The job runs again after its
   * interval.
   */
  run(): Promise<void>
}

interface JobsOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Decides whether this instance runs the shared jobs. */
  readonly lease: JobLease
}

/**
 * Runs each job at its interval, shared jobs only while this instance holds the lease. A job never
 * runs twice at the same time in one process.
 */
export class Jobs {
  readonly #jobs: readonly Job[]
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #lease: JobLease
  readonly #timers = new Map<Job, Cancel>()
  readonly #running = new Map<Job, Promise<void>>()
  readonly #failures = new Map<string, number>()
  /** The jobs that failed in their last run. The failure was already logged. */
  readonly #failing = new Set<Job>()
  #isStopped = false

  constructor(jobs: readonly Job[], { clock, logger, lease }: JobsOptions) {
    this.#jobs = jobs
    this.#clock = clock
    this.#logger = logger
    this.#lease = lease
    for (const { name } of jobs) this.#failures.set(name, 0)
  }

  /** The time since which the store accepts no changes; see `JobLease.readOnlySince`. */
  get readOnlySince(): number | undefined {
    return this.#lease.readOnlySince
  }

  /** The number of failed runs, by the name of the job. */
  get failures(): ReadonlyMap<string, number> {
    return this.#failures
  }

  /**
   * Schedules the first run of each job after a random delay between half of its interval and its
   * whole interval. Resolves after the first claim of the lease. Never rejects.
   */
  async start(): Promise<void> {
    for (const job of this.#jobs) this.#arm(job, job.everyMs * (0.5 + Math.random() / 2))
    if (this.#jobs.some(({ isShared }) => isShared)) await this.#lease.start()
  }

  /**
   * Resolves when the current runs have ended and the lease is released. No job runs afterwards.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    await Promise.all(this.#running.values())
    await this.#lease.stop()
  }

  /**
   * Runs a job immediately, or after its current run, instead of waiting for its interval. Needs no
   * lease.
   */
  runNow(job: Job): Promise<void> {
    const before = this.#running.get(job) ?? Promise.resolve()
    const running = before.then(() => this.#run(job))
    this.#running.set(job, running)
    return running
  }

  #arm(job: Job, delayMs: number): void {
    this.#timers.get(job)?.()
    if (this.#isStopped) return
    this.#timers.set(
      job,
      this.#clock.schedule(delayMs, () => void this.#runDue(job)),
    )
  }

  /** Runs a job whose interval has passed, or waits for its next interval without the lease. */
  async #runDue(job: Job): Promise<void> {
    if (!job.isShared || (await this.#lease.isHeld())) await this.runNow(job)
    else this.#arm(job, job.everyMs)
  }

  async #run(job: Job): Promise<void> {
    if (this.#isStopped) return
    try {
      await job.run()
      if (this.#failing.delete(job)) this.#logger.info(`The job "${job.name}" succeeded again`)
    } catch (cause) {
      this.#failures.set(job.name, (this.#failures.get(job.name) ?? 0) + 1)
      this.#report(job, cause)
    }
    this.#arm(job, job.everyMs)
  }

  /** Logs the first of several failures in a row. An unavailable store is not logged here. */
  #report(job: Job, cause: unknown): void {
    const isUnavailable = isFlagError(cause) && cause.code === 'UNAVAILABLE'
    if (isUnavailable || this.#failing.has(job)) return
    this.#failing.add(job)
    this.#logger.error(`The job "${job.name}" failed and will be retried`, { cause })
  }
}
