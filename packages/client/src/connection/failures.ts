import type { Connection, ConnectionFailure } from './connection-state.ts'
import { descend, strike, toTop, transportOf } from './ladder.ts'

/** The statuses and close codes that refuse the SDK key. */
const REFUSED: readonly unknown[] = [401, 403, 4401]
/** The statuses and close codes that refuse a message or its size. */
const REJECTED: readonly unknown[] = [400, 413, 1009, 4400]
const MAX_CAUSES = 20

/** Returns `true` if the step in progress, or the next one, is a socket. */
export function usesSocket({ ladder, needsRequest }: Connection): boolean {
  return transportOf(ladder) === 'socket' && !needsRequest
}

/** Returns `true` if the step is a socket, and requests can replace it. */
export function hasRequests(connection: Connection): boolean {
  return usesSocket(connection) && connection.ladder.transports.length > 1
}

/** Returns `true` if another transport tries the refused context again. */
export function isTriedAgain({ failure }: Connection, code: unknown): boolean {
  return failure === 'unreachable' && REJECTED.includes(code)
}

/** Selects the next transport after a failure, and returns the failure. */
export function failureOf(connection: Connection, code: unknown): ConnectionFailure {
  const { ladder, isPoll, failure } = connection
  if (REFUSED.includes(code)) return 'refused'
  // A refusal of an earlier context says nothing about the current one.
  if (REJECTED.includes(code) && !connection.subscription.isOutdated()) {
    return descend(ladder) && failure !== 'invalidContext' ? 'unreachable' : 'invalidContext'
  }
  const isSocket = usesSocket(connection)
  // A poll without a response shows that the server is away. An error shows that polls do not work.
  if (isSocket ? !connection.isCurrent : isPoll && code) strike(ladder, connection.alarms.now())
  if (!isSocket && !isPoll) toTop(ladder)
  return 'unreachable'
}

const FAILURES: Readonly<Record<ConnectionFailure, string>> = {
  refused: 'refuses the SDK key',
  invalidContext: 'refuses the context',
  unreachable: 'is not available',
}

/** Reports a cause of failures once, until the connection has been healthy again. */
export function reportFailure(
  { causes, alarms, quietUntil, platform, url, failure = 'unreachable', report }: Connection,
  problem: string,
): void {
  const isExpected = platform.lifecycle.isOffline() || alarms.now() < quietUntil
  const cause = failure === 'unreachable' ? problem : failure
  if (isExpected || causes.has(cause) || causes.size > MAX_CAUSES) return
  causes.add(cause)
  const error = new Error(`The flag server ${url} ${FAILURES[failure]}: ${problem}`)
  report(Object.assign(error, { code: failure }))
}
