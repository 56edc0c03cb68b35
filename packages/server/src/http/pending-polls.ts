import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import type { Cancel, Clock } from '../runtime/clock.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'

/** The maximum delay of a reply after the end of its hold time. */
const CHECK_MS = 50

/** A request that waits for a change. */
export interface PendingPoll {
  /** The end of the hold time, on the scale of `Clock.monotonicNow`. */
  readonly dueAt: number
  /** Replies with the current state. Does nothing if the poll has ended. */
  answerNow(): void
}

/** The pending polls of a server, which share one timer. Replies to each when its hold time ends. */
export class PendingPolls {
  readonly #clock: Clock
  /** The pending polls in order of arrival. */
  readonly #pending = new Set<PendingPoll>()
  #cancelCheck: Cancel | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the `dueAt` of a poll that begins now. */
  nextDueAt(): number {
    const holdMs = POLL_HOLD_MS + Math.random() * (POLL_SPREAD_MS - CHECK_MS)
    // A small integer needs no separate memory, unlike a fraction.
    return Math.trunc(this.#clock.monotonicNow() + holdMs)
  }

  /** Adds a poll, which replies at the end of its hold time. */
  add(poll: PendingPoll): void {
    this.#pending.add(poll)
    if (this.#cancelCheck === undefined) this.#checkIn(POLL_HOLD_MS)
  }

  /** Removes a poll. Does nothing if the poll is not pending. */
  remove(poll: PendingPoll): void {
    this.#pending.delete(poll)
    if (this.#pending.size > 0) return
    this.#cancelCheck?.()
    this.#cancelCheck = undefined
  }

  #checkIn(delayMs: number): void {
    this.#cancelCheck = this.#clock.schedule(delayMs, () => this.#answerDue())
  }

  /** Replies to the polls with an expired hold time, in time slices. */
  #answerDue(): void {
    const now = this.#clock.monotonicNow()
    const due: PendingPoll[] = []
    for (const poll of this.#pending) {
      if (poll.dueAt <= now) due.push(poll)
      // Later polls may have shorter hold times, but the difference is at most this spread.
      else if (poll.dueAt > now + POLL_SPREAD_MS) break
    }
    for (const poll of due) this.#pending.delete(poll)
    const [oldest] = this.#pending
    this.#cancelCheck = undefined
    if (oldest !== undefined) this.#checkIn(Math.max(CHECK_MS, oldest.dueAt - POLL_SPREAD_MS - now))
    void forEachInTimeSlices(due, (poll) => poll.answerNow())
  }
}
