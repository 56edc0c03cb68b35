import { isFlagError } from '@ff/core'
import type { Cancel, Clock } from './clock.ts'
import type { Logger } from './logger.ts'

/** Work that is repeated, such as deleting old records. */
export interface Job {
  /** For the log, such as `delete old contexts`. */
  readonly name: string
  /** From the end of one run to the beginning of the next, in milliseconds. */
  readonly everyMs: number
  /**
   * Runs on every instance: work that must happen once is decided inside a transaction. An error is
   * logged once, and the next run tries again.
   */
  run(): Promise<void>
}

/** Runs each job at its interval, never twice at once. */
export class Jobs {
  readonly #jobs: readonly Job[]
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #timers = new Map<Job, Cancel>()
  readonly #running = new Map<Job, Promise<void>>()
  readonly #failures = new Map<string, number>()
  /** Jobs whose last run failed and was reported. */
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

  /** How often each job has failed, by its name. */
  get failures(): ReadonlyMap<string, number> {
    return this.#failures
  }

  /** Schedules the first run of each job after a random part of its interval. */
  start(): void {
    for (const job of this.#jobs) this.#arm(job, job.everyMs * (0.5 + Math.random() / 2))
  }

  /** Resolves when the present runs have ended; nothing runs afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    await Promise.all(this.#running.values())
  }

  /** Runs a job now, or when its present run has ended, instead of waiting for its time. */
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
      if (this.#failing.delete(job)) this.#logger.info(`the job "${job.name}" runs again`)
    } catch (cause) {
      this.#failures.set(job.name, (this.#failures.get(job.name) ?? 0) + 1)
      this.#report(job, cause)
    }
    this.#arm(job, job.everyMs)
  }

  /** Logs a failure once; an unavailable store is reported where it matters. */
  #report(job: Job, cause: unknown): void {
    const isUnavailable = isFlagError(cause) && cause.code === 'UNAVAILABLE'
    if (isUnavailable || this.#failing.has(job)) return
    this.#failing.add(job)
    this.#logger.error(`the job "${job.name}" fails; it tries again`, { cause })
  }
}
