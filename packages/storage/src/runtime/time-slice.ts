/** Work that can be interrupted at each `yield` and that returns a result. */
export type Interruptible<Result> = Generator<undefined, Result>

/** The length of a time slice in milliseconds. */
const SLICE_MS = 5

/** Runs work to its end without interruption and returns its result. */
export function runToEnd<Result>(work: Interruptible<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/**
 * Runs work in time slices of a few milliseconds, so that it does not block the event loop for
 * long. Concurrent calls of `run` on one object share one time slice per turn of the event loop.
 */
export class TimeSlices {
  /**
   * The end of the time slice in this turn of the event loop; `undefined` if no slice has begun.
   */
  #until: number | undefined

  /** Runs work to its end, in as many time slices as necessary, and returns its result. */
  async run<Result>(work: Interruptible<Result>): Promise<Result> {
    for (;;) {
      this.#until ??= this.#begin()
      if (performance.now() > this.#until) {
        await new Promise<void>((resolve) => setImmediate(resolve))
        continue
      }
      const { done, value } = work.next()
      if (done === true) return value
    }
  }

  #begin(): number {
    setImmediate(() => {
      this.#until = undefined
    })
    return performance.now() + SLICE_MS
  }
}
