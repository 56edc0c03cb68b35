/** A clock. All times are in milliseconds. */
export interface Clock {
  /** The time since 1970. */
  now(): number
  /** A time that changes of the system clock do not affect. */
  monotonicNow(): number
  /** Calls `task` once after a delay. Returns a function that cancels the call. */
  schedule(delayMs: number, task: () => void): () => void
}

/** Several delayed calls that share one timer. A name identifies each call. */
export interface Alarms {
  /** The monotonic time of the clock. */
  readonly now: () => number
  /** Calls `task` once after a delay, at most a day. Replaces the call with the same name. */
  set(name: unknown, delayMs: number, task: () => void): void
  has(name: unknown): boolean
  clear(name: unknown): void
}

interface Alarm {
  readonly name: unknown
  readonly at: number
  readonly task: () => void
}

/** Longer delays overflow the timers of some platforms. */
const MAX_DELAY_MS = 86_400_000

/** Creates alarms on a clock. */
export function createAlarms(clock: Clock): Alarms {
  const pending = new Map<unknown, Alarm>()
  const now = () => clock.monotonicNow()
  let cancel: (() => void) | undefined
  /** The time of the timer, which can be earlier than the first alarm. */
  let wakeAt = Infinity

  function wakeBy(at: number): void {
    if (at >= wakeAt) return
    cancel?.()
    wakeAt = at
    cancel = clock.schedule(Math.max(0, at - now()), runDue)
  }

  /** Runs all due alarms in the order of their times. */
  function runDue(): void {
    // The alarms are due when the timer fires, even if the clock shows an earlier time.
    const due = Math.max(wakeAt, now())
    wakeAt = Infinity
    for (const alarm of [...pending.values()].sort((a, b) => a.at - b.at)) {
      const { name, at, task } = alarm
      // An earlier task can have replaced or cleared the alarm.
      if (pending.get(name) !== alarm) continue
      if (at > due) {
        wakeBy(at)
        break
      }
      pending.delete(name)
      task()
    }
  }

  return {
    now,
    set(name, delayMs, task) {
      const at = now() + Math.min(delayMs || 0, MAX_DELAY_MS)
      pending.set(name, { name, at, task })
      wakeBy(at)
    },
    has: (name) => pending.has(name),
    clear(name) {
      pending.delete(name)
      if (pending.size > 0) return
      cancel?.()
      wakeAt = Infinity
    },
  }
}
