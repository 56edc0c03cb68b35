/** Work that may be interrupted at each `yield`, and its result. */
export type Interruptible<Result> = Generator<undefined, Result>

/** For how many milliseconds work runs before other work may. */
const SLICE_MS = 5

/** Runs all of the work at once. */
export function runToEnd<Result>(work: Interruptible<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Runs the work in time slices of some milliseconds, so that long work does not block the event loop. */
export async function runInSlices<Result>(work: Interruptible<Result>): Promise<Result> {
  let until = performance.now() + SLICE_MS
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (performance.now() < until) continue
    await new Promise<void>((resolve) => setImmediate(resolve))
    until = performance.now() + SLICE_MS
  }
}
