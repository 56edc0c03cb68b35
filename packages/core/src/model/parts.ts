/** A piece of work that may be interrupted at each `yield`, and what comes out of it. */
export type Parts<Result> = Generator<undefined, Result>

/** Does all parts at once. */
export function finish<Result>(parts: Parts<Result>): Result {
  for (;;) {
    const { done, value } = parts.next()
    if (done === true) return value
  }
}
