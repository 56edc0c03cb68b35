import { inNextTurn, TimeSlice, TimeSliceQueue } from '@ff/server/plane'

/** The minimum number of turns of the event loop between two time slices. */
const TURNS = 8
/** The duration of a turn in which the event loop has done other work. */
const BUSY_TURN_MS = 0.1
/** The time without other work after which the event loop is idle again. */
const IDLE_MS = 1
/** The length of time slices on a busy event loop. */
const SHORT_SLICE_MS = 1
/** The shortest and the longest pause between these time slices. Each is twice the one before. */
const MIN_PAUSE_MS = 2.5
const MAX_PAUSE_MS = 20

/**
 * Assigns short time slices with pauses while the event loop does other work, so that soon at least
 * 19 twentieths of the time remain for requests. On an idle event loop, the time slices have their
 * usual length and follow each other after a few turns.
 */
export class PacedSlices extends TimeSliceQueue {
  /** The pause before the next time slice; 0 if the event loop is idle. */
  #pauseMs = 0

  protected override async nextSlice(): Promise<TimeSlice> {
    const pauseMs = this.#pauseMs
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const isFree = await isIdle(pauseMs > 0 ? IDLE_MS : 0)
    this.#pauseMs = isFree ? 0 : Math.min(2 * pauseMs || MIN_PAUSE_MS, MAX_PAUSE_MS)
    return new TimeSlice(isFree ? undefined : SHORT_SLICE_MS)
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
