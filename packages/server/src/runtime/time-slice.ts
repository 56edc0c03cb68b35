/** How long a slice lasts. */
const SLICE_MS = 5

/** How many turns a slice has at most: what answering a poll takes is done only after the slice. */
const SLICE_TURNS = 64

/** A share of a long piece of work, after which everything else has its turn. */
export class Slice {
  readonly #until = performance.now() + SLICE_MS
  #taken = 0

  /** Whether one more turn may be taken; the first always may. */
  take(): boolean {
    this.#taken += 1
    if (this.#taken === 1) return true
    return this.#taken <= SLICE_TURNS && performance.now() < this.#until
  }
}

/** Gives slices to several long pieces of work: at most one of them has a slice in a turn of the event loop. */
export class SliceQueue {
  #last = Promise.resolve()

  /** Resolves with the caller's next slice, in a later turn of the event loop. */
  async next(): Promise<Slice> {
    this.#last = this.#last.then(nextTurn)
    await this.#last
    return new Slice()
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Does something, which must not fail, with one after the other, and the first at once. */
export async function inSlices<T>(all: Iterable<T>, task: (one: T) => void): Promise<void> {
  let slice = new Slice()
  for (const one of all) {
    if (!slice.take()) {
      await nextTurn()
      slice = new Slice()
      slice.take()
    }
    task(one)
  }
}

/** Runs work that may be interrupted at each `yield`, in slices, and returns its result. */
export async function runInSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let slice = new Slice()
  for (;;) {
    if (!slice.take()) {
      await nextTurn()
      slice = new Slice()
      slice.take()
    }
    const { done, value } = work.next()
    if (done === true) return value
  }
}
