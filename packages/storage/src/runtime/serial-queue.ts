/** Runs asynchronous functions one after another, in the order in which they were added. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /**
   * Adds `work` to the queue and returns its result. If `work` throws, the returned promise rejects
   * and the queue continues.
   */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}
