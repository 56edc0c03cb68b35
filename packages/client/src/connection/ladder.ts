/** A transport of a connection. */
export type Transport = 'socket' | 'long-poll' | 'request'

/** The transports of a connection, the best first, and the one in use. Times are monotonic. */
export interface Ladder {
  readonly transports: readonly Transport[]
  /** The index of the transport in use. */
  rung: number
  /** The time of the last failure to open. */
  struckAt: number
  /** The time at which the best transport is tried again. */
  climbAt: number
  /** The time until then. */
  climbMs: number
}

const STRIKE_MS = 30_000
/** The time after which the best transport is tried again for the first time. */
export const MIN_CLIMB_MS = 300_000
const MAX_CLIMB_MS = 3_600_000

/** Creates a ladder with the best transport in use. */
export function createLadder(transports: readonly Transport[]): Ladder {
  const climbMs = MIN_CLIMB_MS
  return { transports, climbMs, rung: 0, struckAt: -Infinity, climbAt: Infinity }
}

/** Returns the transport in use; `undefined` if there is none. */
export function transportOf({ transports, rung }: Ladder): Transport | undefined {
  return transports[rung]
}

/** Selects the best transport. */
export function toTop(ladder: Ladder): void {
  ladder.rung = 0
  ladder.struckAt = -Infinity
  ladder.climbAt = Infinity
}

/** Selects the next transport. Returns `false` if there is none and the best one was selected. */
export function descend(ladder: Ladder): boolean {
  const next = ladder.rung + 1
  toTop(ladder)
  if (next < ladder.transports.length) ladder.rung = next
  return ladder.rung > 0
}

/** Counts a failure to open. Two failures within 30 seconds select the next transport. */
export function strike(ladder: Ladder, now: number): void {
  if (now - ladder.struckAt < STRIKE_MS) descend(ladder)
  else ladder.struckAt = now
}

/**
 * Sets the time at which the best transport is tried again, after a success of another one. The
 * time until then doubles with each attempt.
 */
export function planClimb(ladder: Ladder, now: number): void {
  if (ladder.rung === 0 || ladder.climbAt < Infinity) return
  ladder.climbAt = now + ladder.climbMs
  ladder.climbMs = Math.min(MAX_CLIMB_MS, 2 * ladder.climbMs)
}
