/** Calls a function in a later turn of the event loop. */
export function inNextTurn(task: () => void): void {
  // Only Node has `setImmediate`, which runs sooner than a timer.
  if (typeof setImmediate === 'function') setImmediate(task)
  else setTimeout(task, 0)
}

/** The length of a time slice. */
const TIME_SLICE_MS = 5

/**
 * The maximum number of items in a time slice. Replies to polls are written only after the time
 * slice has ended.
 */
const TIME_SLICE_TURNS = 64

/** A part of a long task. Other tasks of the event loop run after it. */
export class TimeSlice {
  readonly #until: number
  #taken = 0

  /** Begins a time slice of `ms` milliseconds. */
  constructor(ms = TIME_SLICE_MS) {
    this.#until = performance.now() + ms
  }

  /**
   * Returns `true` if one more item may be processed in this time slice; always `true` for the
   * first item.
   */
  take(): boolean {
    this.#taken += 1
    if (this.#taken === 1) return true
    return this.#taken <= TIME_SLICE_TURNS && performance.now() < this.#until
  }
}

/** Assigns time slices to several long tasks: at most one in each turn of the event loop. */
export class TimeSliceQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves with the next time slice of the caller, in a later turn of the event loop. */
  next(): Promise<TimeSlice> {
    const next = this.#last.then(() => this.nextSlice())
    this.#last = next
    return next
  }

  /** Resolves with the next time slice. Called only after the previous call has resolved. */
  protected async nextSlice(): Promise<TimeSlice> {
    await nextTurn()
    return new TimeSlice()
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => inNextTurn(resolve))
}

/**
 * Calls a function for each item, in time slices. The first call is synchronous. The function must
 * not throw.
 */
export function forEachInTimeSlices<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
  return runInTimeSlices(forEach(items, task))
}

function* forEach<T>(items: Iterable<T>, task: (item: T) => void): Generator<undefined, void> {
  for (const item of items) {
    task(item)
    yield
  }
}

/**
 * Runs a generator in time slices and resolves with its result. The generator can be interrupted at
 * each `yield`. With `slices`, all time slices are those of the queue; otherwise the first begins
 * immediately.
 */
export async function runInTimeSlices<Result>(
  work: Generator<undefined, Result>,
  slices?: TimeSliceQueue,
): Promise<Result> {
  const next = async () => {
    if (slices !== undefined) return slices.next()
    await nextTurn()
    return new TimeSlice()
  }
  let slice = slices === undefined ? new TimeSlice() : await slices.next()
  for (;;) {
    if (!slice.take()) {
      slice = await next()
      slice.take()
    }
    const { done, value } = work.next()
    if (done === true) return value
  }
}
