/** A source of time and timers. Tests can replace it. */
export interface Clock {
  /** Returns the time in epoch milliseconds. */
  now(): number
  /** Returns milliseconds, with fractions, since an arbitrary origin. The value never decreases. */
  monotonicNow(): number
  /**
   * Calls `task` once, after at least `delayMs` milliseconds, and returns a function that cancels
   * the call. The timer does not keep the process alive.
   */
  schedule(delayMs: number, task: () => void): Cancel
}

/** Cancels a scheduled call. Does nothing if the call was already executed or cancelled. */
export type Cancel = () => void

/** The longest delay that platform timers accept. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/** The clock and the timers of the platform. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  schedule(delayMs, task) {
    const timer = setTimeout(task, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS))
    timer.unref?.()
    return () => clearTimeout(timer)
  },
}

/**
 * Resolves with `undefined` if the promise is still pending after `ms` milliseconds. Otherwise
 * resolves or rejects like the promise.
 */
export async function within<T>(
  promise: Promise<T>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<T | undefined> {
  let cancel: Cancel | undefined
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.schedule(ms, () => resolve(undefined))
  })
  return await Promise.race([promise, late]).finally(() => cancel?.())
}

/** Returns the clock's time as a timestamp: ISO-8601 UTC with milliseconds. */
export function timestampAt(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}
