import { type Clock, within } from './clock.ts'

/** Counts the requests in progress, so that a server that is closing can wait for them. */
export class InFlight {
  #count = 0
  #whenNone: (() => void)[] = []

  /** Counts a request as in progress until `end` is called. */
  begin(): void {
    this.#count += 1
  }

  /** Ends a request that `begin` has counted. */
  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    for (const task of this.#whenNone.splice(0)) task()
  }

  /** Resolves when no request is in progress, or after `withinMs` milliseconds. */
  async settled(clock: Clock, withinMs: number): Promise<void> {
    if (this.#count === 0) return
    const none = new Promise<void>((resolve) => this.#whenNone.push(resolve))
    await within(none, { clock, ms: withinMs })
  }
}
