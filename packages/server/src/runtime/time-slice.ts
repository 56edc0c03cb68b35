/** Calls a task in a later turn of the event loop. */
export function inNextTurn(task: () => void): void {
  // Only Node has `setImmediate`, which runs sooner than any timer.
  if (typeof setImmediate === 'function') setImmediate(task)
  else setTimeout(task, 0)
}

/** How long a time slice lasts. */
const TIME_SLICE_MS = 5

/** The most turns of a time slice: the replies to polls are written only after it. */
const TIME_SLICE_TURNS = 64

/** A part of a long task, after which other tasks of the event loop run. */
export class TimeSlice {
  readonly #until = performance.now() + TIME_SLICE_MS
  #taken = 0

  /** Whether one more turn may be taken; the first always may. */
  take(): boolean {
    this.#taken += 1
    if (this.#taken === 1) return true
    return this.#taken <= TIME_SLICE_TURNS && performance.now() < this.#until
  }
}

/** Gives time slices to several long tasks: at most one in each turn of the event loop. */
export class TimeSliceQueue {
  #last = Promise.resolve()

  /** Resolves with the caller's next time slice, in a later turn of the event loop. */
  async next(): Promise<TimeSlice> {
    this.#last = this.#last.then(nextTurn)
    await this.#last
    return new TimeSlice()
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => inNextTurn(resolve))
}

/** Calls a function, which must not throw, for each item in time slices; for the first one at once. */
export function forEachInTimeSlices<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
  return runInTimeSlices(forEach(items, task))
}

function* forEach<T>(items: Iterable<T>, task: (item: T) => void): Generator<undefined, void> {
  for (const item of items) {
    task(item)
    yield
  }
}

/** Runs work that may be interrupted at each `yield`, in time slices, and returns its result. */
export async function runInTimeSlices<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let slice = new TimeSlice()
  for (;;) {
    if (!slice.take()) {
      await nextTurn()
      slice = new TimeSlice()
      slice.take()
    }
    const { done, value } = work.next()
    if (done === true) return value
  }
}
