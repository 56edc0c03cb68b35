import { SerialQueue } from './serial-queue.ts'

interface LockQueue {
  readonly queue: SerialQueue
  /** The number of functions that are running or waiting. */
  pending: number
}

/** Runs asynchronous functions with the same lock one after another, and all others at once. */
export class LockQueues {
  readonly #queues = new Map<string, LockQueue>()

  /** Runs `work` after all earlier functions with this lock, and returns its result. */
  async run<T>(lock: string, work: () => Promise<T>): Promise<T> {
    const entry = this.#queues.get(lock) ?? { queue: new SerialQueue(), pending: 0 }
    this.#queues.set(lock, entry)
    entry.pending += 1
    try {
      return await entry.queue.run(work)
    } finally {
      entry.pending -= 1
      if (entry.pending === 0) this.#queues.delete(lock)
    }
  }
}
