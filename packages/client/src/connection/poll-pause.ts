import type { Connection } from './connection-state.ts'

/** The time from the response of a poll to the next poll. */
const POLL_PAUSE_MS = 500
/** The first and the longest pause after a poll that ended immediately without changes. */
const MIN_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000
/** The time after which a server that works responds to a poll without changes, at the earliest. */
const HELD_MS = 5000

/**
 * Returns the time from the response of a request to the next poll, in milliseconds. `version` is
 * that of the response. The pause doubles while polls end immediately without a change, because a
 * proxy that changes entity tags makes each poll end. A poll that is held or brings a change ends
 * this.
 */
export function pauseAfter(connection: Connection, version: string | null): number {
  const { alarms, isPoll, pauseMs, requestedAt } = connection
  const isEarly = version === connection.version && alarms.now() - requestedAt < HELD_MS
  connection.version = version
  if (!isPoll) return pauseMs
  connection.pauseMs = isEarly ? Math.min(2 * pauseMs || MIN_PAUSE_MS, MAX_PAUSE_MS) : 0
  return connection.pauseMs || POLL_PAUSE_MS
}
