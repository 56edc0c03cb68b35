/** A computation that can be interrupted at each `yield`, and returns a result. */
export type Incremental<Result> = Generator<undefined, Result>

/** Runs a computation without interruption and returns its result. */
export function runToEnd<Result>(work: Incremental<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
