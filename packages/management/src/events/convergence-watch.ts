import type { ProjectEvent } from '@ff/protocol/management'
import type { Cancel, Clock, Instance } from '@ff/server/plane'
import { totalOf } from '../insights/convergence.ts'

/** The intervals of the checks: at first, then, and after a minute. */
const FAST_MS = 200
const SLOW_MS = 1000
const SLOWEST_MS = 5000
/** The time with the first interval, and the time until the last one. */
const FAST_FOR_MS = 5000
const SLOW_FOR_MS = 60_000
/** The minimum time between two events, except before the last one. */
const SEND_EVERY_MS = 1000

interface WatchOptions {
  readonly environmentId: string
  readonly instance: Instance
  readonly clock: Clock
  /** Sends an event to the readers of the project. */
  readonly send: (event: ProjectEvent) => void
}

/** Sends the progress of the delivery of one environment's newest version, until it is complete. */
export class ConvergenceWatch {
  readonly #options: WatchOptions
  #version = 0
  /** The number of calls of `start`. Checks that began before the last call have no effect. */
  #run = 0
  #startedAt = 0
  #sentAt = Number.NEGATIVE_INFINITY
  #cancel: Cancel | undefined

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Begins to watch the delivery of a version, unless a later version is already watched. */
  start(version: number): void {
    if (version < this.#version) return
    this.#version = version
    this.#run += 1
    this.#startedAt = this.#options.clock.monotonicNow()
    this.#cancel?.()
    this.#schedule(0)
  }

  /** Stops the checks. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #schedule(delayMs: number): void {
    const run = this.#run
    this.#cancel = this.#options.clock.schedule(delayMs, () => void this.#check(run))
  }

  async #check(run: number): Promise<void> {
    const { environmentId, instance, clock, send } = this.#options
    const version = this.#version
    const reports = await instance.loadReports(environmentId).catch(() => undefined)
    if (this.#cancel === undefined || run !== this.#run) return
    const now = clock.monotonicNow()
    const total = reports && totalOf(reports, version)
    const isOver = total?.behind === 0
    if (total !== undefined && (isOver || now - this.#sentAt >= SEND_EVERY_MS)) {
      this.#sentAt = now
      send({ event: 'convergence', id: null, data: { environmentId, version, total } })
    }
    if (isOver) this.#cancel = undefined
    else this.#schedule(intervalAfter(now - this.#startedAt))
  }
}

function intervalAfter(elapsedMs: number): number {
  if (elapsedMs < FAST_FOR_MS) return FAST_MS
  return elapsedMs < SLOW_FOR_MS ? SLOW_MS : SLOWEST_MS
}
