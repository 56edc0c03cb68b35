/** Runs one piece of work after another, in the order they were given. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Answers what `work` answers; a failure is the caller's and does not stop the queue. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}
