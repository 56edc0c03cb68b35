/** Work that may be interrupted at each `yield`, and its result. */
export type Interruptible<Result> = Generator<undefined, Result>

/** For how many milliseconds work may block the event loop. */
const SLICE_MS = 5

/** Runs all of the work at once. */
export function runToEnd<Result>(work: Interruptible<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/**
 * Runs work in time slices of some milliseconds, so that it does not block the event loop for
 * long. All the work of one object together has one slice in a turn of the event loop.
 */
export class TimeSlices {
  /** The end of the slice in this turn; `undefined` before it has begun. */
  #until: number | undefined

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
