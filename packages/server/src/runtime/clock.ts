/** Time and timers, replaceable in tests. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds from an arbitrary origin, with fractions, which never go back. */
  monotonicNow(): number
  /** Runs `task` once, at the earliest `delayMs` from now; returns its cancellation. Never keeps a process alive. */
  schedule(delayMs: number, task: () => void): Cancel
}

export type Cancel = () => void

/** The longest delay that platform timers accept. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  schedule(delayMs, task) {
    const timer = setTimeout(task, Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS))
    timer.unref?.()
    return () => clearTimeout(timer)
  },
}

/** Resolves and rejects as a promise does, but resolves with `undefined` after `ms`. */
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
