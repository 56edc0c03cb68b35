/** A computation that can be interrupted at each `yield`, and returns a result. */
export type Incremental<Result> = Generator<undefined, Result>

/** Runs a computation without interruption and returns its result. */
export function runToEnd<Result>(work: Incremental<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** The work that is done without interruption. It takes less than a millisecond. */
const WORK_PER_SLICE = 4096

/**
 * Counts the work of computations, which yield when `add` returns `true`. A unit of work takes
 * about as long as reading a few characters.
 */
export class Pace {
  #work = 0

  /** Adds work that was done. Returns `true` if it is time to yield. */
  add(work: number): boolean {
    this.#work += work
    if (this.#work < WORK_PER_SLICE) return false
    this.#work = 0
    return true
  }
}

/** An object with parts that are made when one of them is first read, or incrementally before. */
export abstract class MadeOnDemand<Parts> {
  /** The faults of the definition; `undefined` until a function of `@ff/core/authoring` sets them. */
  faults: readonly string[] | undefined
  #parts: Parts | undefined
  /** `undefined` after the parts have been made. */
  #make: ((pace: Pace) => Incremental<Parts>) | undefined

  constructor(make: (pace: Pace) => Incremental<Parts>) {
    this.faults = undefined
    this.#parts = undefined
    this.#make = make
  }

  /** The parts. They are always the same objects. */
  get parts(): Parts {
    if (this.#parts === undefined) runToEnd(this.prepare(new Pace()))
    return this.#parts as Parts
  }

  /** Makes the parts, unless they have been made already. */
  *prepare(pace: Pace): Incremental<void> {
    if (this.#make === undefined) return
    const made = yield* this.#make(pace)
    // The parts can have been read during an interruption.
    this.#parts ??= made
    this.#make = undefined
  }
}
