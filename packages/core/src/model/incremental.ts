/** Work that can be interrupted at each `yield`, and its result. */
export type Incremental<Result> = Generator<undefined, Result>

/** Runs the work without interruption and returns its result. */
export function runToEnd<Result>(work: Incremental<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
