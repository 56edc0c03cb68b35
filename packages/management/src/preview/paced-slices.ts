import { inNextTurn, TimeSlice, TimeSliceQueue } from '@ff/server/plane'

/** The minimum number of turns of the event loop between two time slices. */
const TURNS = 8
/** The duration of a turn in which the event loop has done other work. */
const BUSY_TURN_MS = 0.1
/** The time without other work after which the event loop is idle again. */
const IDLE_MS = 1
/** The time between two time slices on a busy event loop, and the length of these time slices. */
const PAUSE_MS = 20
const SHORT_SLICE_MS = 1

/**
 * Assigns short time slices with pauses while the event loop does other work, so that at least 19
 * twentieths of the time remain for requests. On an idle event loop, the time slices have their
 * usual length and follow each other after a few turns.
 */
export class PacedSlices extends TimeSliceQueue {
  #isBusy = false

  protected override async nextSlice(): Promise<TimeSlice> {
    if (this.#isBusy) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    this.#isBusy = !(await isIdle(this.#isBusy ? IDLE_MS : 0))
    return new TimeSlice(this.#isBusy ? SHORT_SLICE_MS : undefined)
  }
}

/** Returns `true` if the event loop does no other work for `ms` milliseconds and several turns. */
async function isIdle(ms: number): Promise<boolean> {
  const startedAt = performance.now()
  let last = startedAt
  for (let turn = 0; turn < TURNS || last < startedAt + ms; turn += 1) {
    await new Promise<void>((resolve) => inNextTurn(resolve))
    const now = performance.now()
    if (now - last > BUSY_TURN_MS) return false
    last = now
  }
  return true
}
