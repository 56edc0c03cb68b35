import type { Clock } from './clock.ts'

/** The requests being worked on, so that a stopping server can wait for them. */
export class InFlight {
  readonly #requests = new Set<Promise<unknown>>()

  /** Remembers a request, which must not reject, until it has ended; one that has ended needs none. */
  add<T>(request: T | Promise<T>): T | Promise<T> {
    if (!(request instanceof Promise)) return request
    this.#requests.add(request)
    void request.then(() => this.#requests.delete(request))
    return request
  }

  /** Resolves when all have ended that are under way now, or after `withinMs`. */
  async settled(clock: Clock, withinMs: number): Promise<void> {
    if (this.#requests.size === 0) return
    await new Promise<void>((resolve) => {
      const cancel = clock.schedule(withinMs, resolve)
      void Promise.all(this.#requests).then(() => {
        cancel()
        resolve()
      })
    })
  }
}
