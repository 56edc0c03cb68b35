/** How long at once. */
const SLICE_MS = 5

/** How many turns at once: what answering a poll takes is done only after the slice. */
const SLICE_TURNS = 64

/** How many turns go by between two looks at the time; so few are always taken. */
const TURNS_UNWATCHED = 8

/** A share of a long piece of work, after which everything else has its turn. */
export class Slice {
  readonly #until = performance.now() + SLICE_MS
  #taken = 0

  /** Whether one more turn may be taken. */
  take(): boolean {
    this.#taken += 1
    if (this.#taken > SLICE_TURNS) return false
    return this.#taken % TURNS_UNWATCHED !== 0 || performance.now() < this.#until
  }
}

/** Does something, which must not fail, with one after the other, and the first at once. */
export async function inSlices<T>(all: Iterable<T>, task: (one: T) => void): Promise<void> {
  let slice = new Slice()
  for (const one of all) {
    if (!slice.take()) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      slice = new Slice()
    }
    task(one)
  }
}
