import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from '@ff/server'
import { ConfigError } from './config/config-error.ts'

/** The variable with the process id of the primary process. */
const PRIMARY = 'FF_PRIMARY_PID'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
/** After this time, the exit of a worker does not count as a failed start. */
const STABLE_AFTER_MS = 60_000

interface WorkersOptions {
  readonly count: number
  /** Environment variables for the workers, in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Starts worker processes, which load their modules and then wait for `begin`. Afterwards, replaces
 * those that exit, after increasing delays.
 */
export class Workers {
  readonly #options: WorkersOptions
  readonly #first: readonly Worker[]
  readonly #living = new Set<Worker>()
  /** Resolves when the workers can serve. */
  readonly #begun: Promise<void>
  #begin: () => void = () => undefined
  readonly #pauses = new Set<NodeJS.Timeout>()
  /** Set by `begin`. */
  #logger: Logger | undefined
  #isStopping = false

  constructor(options: WorkersOptions) {
    this.#options = options
    // Distributes connections evenly on every operating system.
    cluster.schedulingPolicy = cluster.SCHED_RR
    process.once('exit', () => this.#kill())
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve
    })
    this.#first = Array.from({ length: options.count }, () => this.#fork(0))
  }

  /** Lets the workers serve, and resolves when all of them listen. Rejects if one exits before. */
  async begin(logger: Logger): Promise<void> {
    this.#logger = logger
    const listening = this.#first.map((worker) => once(worker, 'listening'))
    const ended = this.#first.map(async (worker) => {
      if (!worker.isDead()) await once(worker, 'exit')
      throw new ConfigError('A worker exited before it could listen. It has printed the reason.')
    })
    this.#begin()
    await Promise.race([Promise.all(listening), ...ended])
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
    const worker = cluster.fork({ ...this.#options.env, [PRIMARY]: String(process.pid) })
    const startedAt = performance.now()
    this.#living.add(worker)
    // The first message says that the worker waits.
    worker.once('message', async () => {
      await this.#begun
      // The worker may have exited meanwhile.
      worker.send(BEGIN, () => undefined)
    })
    worker.once('exit', (code, signal) => {
      this.#living.delete(worker)
      const logger = this.#logger
      if (this.#isStopping || logger === undefined) return
      const quick = performance.now() - startedAt < STABLE_AFTER_MS ? restarts : 0
      const pauseMs = pauseBefore(quick)
      const fields = { pid: worker.process.pid, code, signal, pauseMs }
      logger.warn('A worker has exited and will be replaced', fields)
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

/** Returns `true` if `Workers` has started this process, and not the primary of another program. */
export function isOwnWorker(): boolean {
  return process.env[PRIMARY] === String(process.ppid)
}

/** Returns the delay in milliseconds before a worker is replaced; it doubles with each restart. */
export function pauseBefore(restarts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** restarts, LONGEST_PAUSE_MS)
}

/** The message of a worker that waits, and the response after which it serves. */
const BEGIN = 'begin'

/** Waits in a worker process until the primary process is prepared. */
export async function begun(): Promise<void> {
  const response = once(process, 'message')
  process.send?.(BEGIN)
  await response
}
