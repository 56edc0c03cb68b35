import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from '@ff/server'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
/** A worker that has lived for so long did not end because of how it was started. */
const SOUND_AFTER_MS = 60_000

interface WorkersParts {
  readonly count: number
  /** What they find in their environment besides ours. */
  readonly env: Readonly<Record<string, string>>
  readonly logger: Logger
}

/** Keeps so many worker processes alive: whoever ends is replaced, after ever longer pauses. */
export class Workers {
  readonly #parts: WorkersParts
  readonly #living = new Set<Worker>()
  readonly #pauses = new Set<NodeJS.Timeout>()
  #isStopping = false

  constructor(parts: WorkersParts) {
    this.#parts = parts
    // Each connection goes to the next worker, whichever system this is.
    cluster.schedulingPolicy = cluster.SCHED_RR
    process.once('exit', () => this.#kill())
  }

  /** Resolves once all of them listen; throws when one ends before. */
  async start(): Promise<void> {
    const first = Array.from({ length: this.#parts.count }, () => this.#fork(0))
    const ended = first.map(async (worker) => {
      await once(worker, 'exit')
      throw new Error('A worker ended before it could listen.')
    })
    const listening = Promise.all(first.map((worker) => once(worker, 'listening')))
    await Promise.race([listening, ...ended])
  }

  /** Asks every worker to end as it should, and resolves when they have. */
  async close(): Promise<void> {
    this.#isStopping = true
    for (const pause of this.#pauses) clearTimeout(pause)
    const ended = [...this.#living].map((worker) => once(worker, 'exit'))
    for (const worker of this.#living) worker.process.kill('SIGTERM')
    await Promise.all(ended)
  }

  /** `restarts` is how often its place was given to a new one already, in quick succession. */
  #fork(restarts: number): Worker {
    const worker = cluster.fork(this.#parts.env)
    const startedAt = performance.now()
    this.#living.add(worker)
    worker.once('exit', (code, signal) => {
      this.#living.delete(worker)
      if (this.#isStopping) return
      const quick = performance.now() - startedAt < SOUND_AFTER_MS ? restarts : 0
      const pauseMs = pauseBefore(quick)
      const fields = { pid: worker.process.pid, code, signal, pauseMs }
      this.#parts.logger.warn('a worker has ended; another one takes its place', fields)
      const pause = setTimeout(() => {
        this.#pauses.delete(pause)
        this.#fork(quick + 1)
      }, pauseMs)
      this.#pauses.add(pause)
    })
    return worker
  }

  /** No worker outlives this process, not even one that hangs. */
  #kill(): void {
    for (const worker of this.#living) worker.process.kill('SIGKILL')
  }
}

/** How long to wait before a place is given to a new worker for the n-th time, from 0. */
export function pauseBefore(restarts: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** restarts, LONGEST_PAUSE_MS)
}
