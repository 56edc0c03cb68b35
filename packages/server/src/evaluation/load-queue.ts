import { getOrInsert } from '../runtime/get-or-insert.ts'

/** A task that waits for its turn. */
type Start = () => void

/**
 * Limits the number of tasks that run at the same time. Organizations take turns, so that the tasks of
 * one organization do not delay those of others.
 */
export class LoadQueue {
  readonly #most: number
  /** The waiting tasks of each organization. The first organization is the next. */
  readonly #waiting = new Map<string, Start[]>()
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Runs a task when it is its turn, and resolves or rejects with its result. */
  async run<Result>(organizationId: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#most) this.#running += 1
    else {
      await new Promise<void>((resolve) => {
        getOrInsert(this.#waiting, organizationId, (): Start[] => []).push(resolve)
      })
    }
    try {
      return await task()
    } finally {
      this.#running -= 1
      if (this.#running < this.#most) this.#startNext()
    }
  }

  /** Starts all waiting tasks, regardless of the limit. */
  startAll(): void {
    while (this.#startNext());
  }

  /** Starts a waiting task. Returns `false` if there is none. */
  #startNext(): boolean {
    for (const [organizationId, starts] of this.#waiting) {
      this.#waiting.delete(organizationId)
      const start = starts.shift()
      if (starts.length > 0) this.#waiting.set(organizationId, starts)
      // Counted here, because a task that is added before this one continues must see it.
      this.#running += 1
      start?.()
      return true
    }
    return false
  }
}
