import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from '@ff/server'
import { ConfigError } from './config.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
/** After this time, the exit of a worker does not count as a failed start. */
const STABLE_AFTER_MS = 60_000

interface WorkersOptions {
  readonly count: number
  /** Environment variables for the workers, in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>
  readonly logger: Logger
}

/** Starts worker processes and replaces those that exit, after increasing delays. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #living = new Set<Worker>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  #isStopping = false

  constructor(options: WorkersOptions) {
    this.#options = options
    // Distributes connections evenly on every operating system.
    cluster.schedulingPolicy = cluster.SCHED_RR
    process.once('exit', () => this.#kill())
  }

  /** Starts the workers and resolves when all of them listen. Rejects if one exits before. */
  async start(): Promise<void> {
    const first = Array.from({ length: this.#options.count }, () => this.#fork(0))
    const ended = first.map(async (worker) => {
      await once(worker, 'exit')
      throw new ConfigError('A worker exited before it could listen. It has printed the reason.')
    })
    const listening = Promise.all(first.map((worker) => once(worker, 'listening')))
    await Promise.race([listening, ...ended])
  }

  /** Sends SIGTERM to all workers and resolves when they have exited. */
  async close(): Promise<void> {
    this.#isStopping = true
    for (const pause of this.#pauses) clearTimeout(pause)
    const ended = [...this.#living].map((worker) => once(worker, 'exit'))
    for (const worker of this.#living) worker.process.kill('SIGTERM')
    await Promise.all(ended)
  }

  /** Starts a worker. `restarts` is the number of quick exits in a row before it. */
  #fork(restarts: number): Worker {
    const worker = cluster.fork(this.#options.env)
    const startedAt = performance.now()
    this.#living.add(worker)
    worker.once('exit', (code, signal) => {
      this.#living.delete(worker)
      if (this.#isStopping) return
      const quick = performance.now() - startedAt < STABLE_AFTER_MS ? restarts : 0
      const pauseMs = pauseBefore(quick)
      const fields = { pid: worker.process.pid, code, signal, pauseMs }
      this.#options.logger.warn('A worker has exited and will be replaced', fields)
      const pause = setTimeout(() => {
        this.#pauses.delete(pause)
        this.#fork(quick + 1)
      }, pauseMs)
      this.#pauses.add(pause)
    })
    return worker
  }

  /** Kills all workers when this process exits, even those that do not respond. */
  #kill(): void {
    for (const worker of this.#living) worker.process.kill('SIGKILL')
  }
}

/** Returns the delay in milliseconds before a worker is replaced; it doubles with each restart. */
export function pauseBefore(restarts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** restarts, LONGEST_PAUSE_MS)
}
