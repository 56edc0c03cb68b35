import type { Clock } from './clock.ts'

/** The requests being worked on, so that a stopping server can wait for them. */
export class InFlight {
  #count = 0
  #whenNone: (() => void)[] = []

  /** Remembers a request, which must not reject, until it has ended; one that has ended needs none. */
  add<T>(request: T | Promise<T>): T | Promise<T> {
    if (!(request instanceof Promise)) return request
    this.#count += 1
    void request.then(this.#ended)
    return request
  }

  /** Resolves when none is under way, or after `withinMs`. */
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

  /** The same for all: requests that are held are many. */
  readonly #ended = (): void => {
    this.#count -= 1
    if (this.#count > 0) return
    const tasks = this.#whenNone
    this.#whenNone = []
    for (const task of tasks) task()
  }
}
