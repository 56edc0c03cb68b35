import type { ProjectEvent } from '@ff/protocol/management'

/**
 * The maximum number of events that wait for their reader. Readers of one project share the events,
 * so a queue needs little memory.
 */
const MAX_WAITING = 2000

/** The events that wait for one reader. The reader iterates over them until the queue has ended. */
export class EventQueue implements AsyncIterable<ProjectEvent>, AsyncIterator<ProjectEvent> {
  readonly #onEnd: (queue: EventQueue) => void
  #waiting: ProjectEvent[] = []
  #take: ((result: IteratorResult<ProjectEvent>) => void) | undefined
  #hasEnded = false

  /** `onEnd` is called once, when the queue has ended. */
  constructor(onEnd: (queue: EventQueue) => void) {
    this.#onEnd = onEnd
  }

  /** `true` after `end`. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Adds events. Ends the queue of a reader that has too many unread events. */
  push(events: readonly ProjectEvent[]): void {
    if (this.#hasEnded) return
    for (const event of events) {
      const take = this.#take
      this.#take = undefined
      if (take === undefined) this.#waiting.push(event)
      else take({ done: false, value: event })
    }
    if (this.#waiting.length > MAX_WAITING) this.end()
  }

  /** Ends the queue and discards its events. Further calls have no effect. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#waiting = []
    this.#take?.({ done: true, value: undefined })
    this.#take = undefined
    this.#onEnd(this)
  }

  /** Returns the next event when there is one. Must not be called again before it has resolved. */
  next(): Promise<IteratorResult<ProjectEvent>> {
    const value = this.#waiting.shift()
    if (value !== undefined) return Promise.resolve({ done: false, value })
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#take = resolve
    })
  }

  /** Ends the queue. */
  async return(): Promise<IteratorResult<ProjectEvent>> {
    this.end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): AsyncIterator<ProjectEvent> {
    return this
  }
}
