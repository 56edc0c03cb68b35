import { type Clock, within } from './clock.ts'

/** Counts the requests in progress, so that a stopping server can wait for them. */
export class InFlight {
  #count = 0
  #whenNone: (() => void)[] = []

  /** Counts a request until `end` is called for it. */
  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    for (const task of this.#whenNone.splice(0)) task()
  }

  /** Resolves when no request is in progress, or after `withinMs`. */
  async settled(clock: Clock, withinMs: number): Promise<void> {
    if (this.#count === 0) return
    const none = new Promise<void>((resolve) => this.#whenNone.push(resolve))
    await within(none, { clock, ms: withinMs })
  }
}
