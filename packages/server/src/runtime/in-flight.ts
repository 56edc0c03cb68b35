import type { Clock } from './clock.ts'

/** Counts the requests in progress, so that a stopping server can wait for them. */
export class InFlight {
  #count = 0
  #whenNone: (() => void)[] = []

  /** Counts a request, which must not reject, until it has ended. */
  add<T>(request: T | Promise<T>): T | Promise<T> {
    if (!(request instanceof Promise)) return request
    this.#count += 1
    void request.then(this.#ended)
    return request
  }

  /** Resolves when no request is in progress, or after `withinMs`. */
  async settled(clock: Clock, withinMs: number): Promise<void> {
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      const cancel = clock.schedule(withinMs, resolve)
      this.#whenNone.push(() => {
        cancel()
        resolve()
      })
    })
  }

  /** One function for all requests, to save memory. */
  readonly #ended = (): void => {
    this.#count -= 1
    if (this.#count > 0) return
    const tasks = this.#whenNone
    this.#whenNone = []
    for (const task of tasks) task()
  }
}
