import { isFlagError } from '@ff/core'
import type { Cancel, Clock } from './clock.ts'
import type { Logger } from './logger.ts'

/** A task that is repeated, such as the deletion of old records. */
export interface Job {
  /** The name in logs and metrics, such as `delete old contexts`. */
  readonly name: string
  /** Milliseconds from the end of one run to the beginning of the next. */
  readonly everyMs: number
  /**
   * Does the work. Every instance calls this method. If only one instance must do the work, use a
   * transaction to decide which. If several runs in a row fail, only the first error is logged. The
   * job runs again after its interval.
   */
  run(): Promise<void>
}

/**
 * Runs each job at its interval. A job never runs twice at the same time in one process, but can
 * run in several processes.
 */
export class Jobs {
  readonly #jobs: readonly Job[]
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #timers = new Map<Job, Cancel>()
  readonly #running = new Map<Job, Promise<void>>()
  readonly #failures = new Map<string, number>()
  /** The jobs that failed in their last run. The failure was already logged. */
  readonly #failing = new Set<Job>()
  #isStopped = false

  constructor(
    jobs: readonly Job[],
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.#jobs = jobs
    this.#clock = clock
    this.#logger = logger
    for (const { name } of jobs) this.#failures.set(name, 0)
  }

  /** The number of failed runs, by the name of the job. */
  get failures(): ReadonlyMap<string, number> {
    return this.#failures
  }

  /**
   * Schedules the first run of each job after a random delay between half of its interval and its
   * whole interval.
   */
  start(): void {
    for (const job of this.#jobs) this.#arm(job, job.everyMs * (0.5 + Math.random() / 2))
  }

  /** Resolves when the current runs have ended. No job runs afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    await Promise.all(this.#running.values())
  }

  /** Runs a job immediately, or after its current run, instead of waiting for its interval. */
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
      this.#clock.schedule(delayMs, () => void this.runNow(job)),
    )
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
