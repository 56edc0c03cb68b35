import type { SDK_PATHS } from '@ff/protocol/sdk'
import { sendRequest } from '../transports/request.ts'
import { openSocket } from '../transports/socket.ts'
import type {
  ClientSocketConstructor,
  Fetch,
  SubscriptionResponse,
} from '../transports/transport.ts'
import { backoffMs, MIN_DELAY_MS, minimumDelayMs } from './backoff.ts'
import type {
  Connection,
  ConnectionFailure,
  ConnectionOptions,
  ConnectionState,
} from './connection-state.ts'
import {
  createLadder,
  descend,
  MIN_CLIMB_MS,
  planClimb,
  strike,
  type Transport,
  toTop,
  transportOf,
} from './ladder.ts'

/** The type ensures that the path is that of the protocol, without importing all paths. */
const SOCKET_PATH: typeof SDK_PATHS.socket = '/ws/sdk'

/** The name of the alarm for the next step. */
const STEP = 1
/** The name of the alarm that ends the connection of a hidden page. */
const HIDE = 2

const ANSWER_TIMEOUT_MS = 10_000
const POLL_TIMEOUT_MS = 75_000
/** The time from the response of a poll to the next poll, in case all polls end immediately. */
const POLL_INTERVAL_MS = 500
const REQUEST_INTERVAL_MS = 30_000
const SILENCE_MS = 25_000
const HIDDEN_MS = 120_000
const HEALTHY_MS = 60_000
const REFUSED_DELAY_MS = 150_000
const ONLINE_SPREAD_MS = 1000
/** The statuses and close codes that refuse the SDK key. */
const REFUSED: readonly unknown[] = [401, 403, 4401]
/** The statuses and close codes that refuse a message or its size. */
const REJECTED: readonly unknown[] = [400, 413, 1009, 4400]

/** Creates a connection and starts it. */
export function openConnection(options: ConnectionOptions): Connection {
  const { platform, transport } = options
  const transports: readonly Transport[] =
    transport === 'auto' ? ['socket', 'long-poll', 'request'] : [transport]
  const connection: Connection = {
    ...options,
    ladder: createLadder(
      transports.filter((each) => (each === 'socket' ? platform.webSocket : platform.fetch)),
    ),
    isCurrent: false,
    failures: 0,
    healthyAt: Infinity,
    lostAt: -Infinity,
    notBefore: 0,
    unsubscribe: platform.lifecycle.subscribe(() => followLifecycle(connection)),
  }
  wait(connection, 0)
  followLifecycle(connection)
  return connection
}

/** Ends the connection. It cannot be opened again. */
export function closeConnection(connection: Connection): void {
  connection.unsubscribe()
  connection.alarms.clear(HIDE)
  pause(connection, 'closed')
}

/** Returns the state of a connection. */
export function stateOf({ paused, isCurrent, stop, ladder }: Connection): ConnectionState {
  return paused ?? ((isCurrent && transportOf(ladder)) || (stop ? 'connecting' : 'waiting'))
}

/**
 * Requests the state again, because the subscription has changed. Returns `false` if no answer can
 * be expected, because the connection is paused or waits after a failure.
 */
export function refresh(connection: Connection): boolean {
  const { failure, isCurrent, send } = connection
  connection.isCurrent = connection.canPoll = false
  if (connection.paused) return false
  if (send && isCurrent) sendRefresh(connection)
  else if (!connection.stop || connection.isPoll) {
    if (failure && failure !== 'invalidContext') return false
    if (failure) {
      toTop(connection.ladder)
      connection.failure = undefined
      connection.notBefore = 0
    }
    wait(connection, 0)
  }
  return true
}

/** Ends the step in progress, and starts the next one after a delay. */
function wait(connection: Connection, delayMs: number): void {
  const { alarms, notBefore } = connection
  halt(connection)
  alarms.set(STEP, Math.max(delayMs, notBefore - alarms.now()), () => run(connection))
}

function halt(connection: Connection): void {
  connection.stop?.()
  connection.stop = connection.send = undefined
  connection.isPoll = false
  connection.alarms.clear(STEP)
}

function run(connection: Connection): void {
  const { fetch, webSocket } = connection.platform
  if (connection.alarms.now() >= connection.ladder.climbAt) toTop(connection.ladder)
  const transport = transportOf(connection.ladder)
  if (transport === 'socket' && webSocket && !(connection.needsRequest && fetch)) {
    connect(connection, webSocket)
  } else if (transport && fetch) {
    request(connection, fetch, transport === 'long-poll' && connection.canPoll)
  } else {
    fail(connection)
  }
}

/** Ends the step in progress as a failure if it does not end within a time. */
function setDeadline(connection: Connection, delayMs: number): void {
  connection.alarms.set(STEP, delayMs, () => fail(connection))
}

function connect(connection: Connection, webSocket: ClientSocketConstructor): void {
  connection.isCurrent = false
  // The health of another transport does not count for the socket.
  connection.healthyAt = Infinity
  setDeadline(connection, ANSWER_TIMEOUT_MS)
  try {
    connection.stop = openSocket(webSocket, connection.url.replace(/^http/, 'ws') + SOCKET_PATH, {
      onOpen(send) {
        connection.send = send
        send(connection.subscription.message(true))
      },
      onMessage: (message) => receive(connection, message),
      onEnd: (...end) => fail(connection, ...end),
    })
  } catch {
    fail(connection)
  }
}

function receive(
  connection: Connection,
  message: Readonly<Record<string, unknown>> | undefined,
): void {
  const receipt = message ? connection.subscription.receive(message) : 'invalid'
  if (receipt === 'invalid') fail(connection)
  else if (receipt === 'outdated') sendRefresh(connection)
  else {
    if (receipt === 'current') succeed(connection)
    if (connection.isCurrent) awaitMessage(connection)
    if (receipt === 'current') connection.onCurrent()
  }
}

/** Sends a ping after some silence, and ends the socket if it stays silent. */
function awaitMessage(connection: Connection): void {
  connection.alarms.set(STEP, SILENCE_MS, () => {
    setDeadline(connection, ANSWER_TIMEOUT_MS)
    connection.send?.('{"type":"ping"}')
  })
}

function sendRefresh(connection: Connection): void {
  const message = connection.subscription.message(false)
  connection.isCurrent = false
  if (message) {
    setDeadline(connection, ANSWER_TIMEOUT_MS)
    connection.send?.(message)
  } else {
    connection.needsRequest = true
    wait(connection, 0)
  }
}

function request(connection: Connection, fetch: Fetch, isPoll = false): void {
  const { path, ...rest } = connection.subscription.request(isPoll)
  connection.isPoll = isPoll
  setDeadline(connection, isPoll ? POLL_TIMEOUT_MS : ANSWER_TIMEOUT_MS)
  connection.stop = sendRequest(
    (signal) => fetch(connection.url + path, { ...rest, signal }),
    (response) => respond(connection, response),
    (...end) => fail(connection, ...end),
  )
}

function respond(connection: Connection, response: SubscriptionResponse): void {
  const receipt = connection.subscription.respond(response)
  if (receipt === 'outdated') wait(connection, 0)
  else if (receipt !== 'current') fail(connection)
  else {
    succeed(connection)
    connection.canPoll = true
    connection.needsRequest = false
    const isRequest = transportOf(connection.ladder) === 'request'
    const intervalMs = REQUEST_INTERVAL_MS * (1 + connection.platform.random())
    wait(connection, isRequest ? intervalMs : connection.isPoll ? POLL_INTERVAL_MS : 0)
    connection.onCurrent()
  }
}

function succeed(connection: Connection): void {
  const now = connection.alarms.now()
  connection.isCurrent = true
  connection.failure = undefined
  connection.healthyAt = Math.min(connection.healthyAt, now)
  planClimb(connection.ladder, now)
}

/** Ends the step in progress, and waits until the next attempt. */
function fail(connection: Connection, code?: unknown, retryAfter?: unknown): void {
  const { ladder, alarms, failure, platform } = connection
  const now = alarms.now()
  if (connection.isCurrent) connection.lostAt = now
  if (now - connection.healthyAt >= HEALTHY_MS) {
    connection.failures = 0
    if (ladder.rung === 0) ladder.climbMs = MIN_CLIMB_MS
  }
  let delayMs = backoffMs(connection.failures, now - connection.lostAt, platform.random)
  let minimumMs = minimumDelayMs(retryAfter)
  connection.failure = failureOf(connection, code)
  const isRefusal = connection.failure !== 'unreachable'
  if (isRefusal) {
    delayMs = REFUSED_DELAY_MS * platform.random()
    minimumMs = Math.max(REFUSED_DELAY_MS, minimumMs)
  }
  connection.failures += 1
  connection.healthyAt = Infinity
  connection.isCurrent = connection.canPoll = connection.needsRequest = false
  connection.notBefore = now + minimumMs
  wait(connection, minimumMs + delayMs)
  connection.onFailure(isRefusal && connection.failure !== failure && connection.failure)
}

/** Selects the next transport after a failure, and returns the failure. */
function failureOf(connection: Connection, code: unknown): ConnectionFailure {
  const { ladder, isPoll, failure } = connection
  if (REFUSED.includes(code)) return 'refused'
  // A refusal of an earlier context says nothing about the current one.
  if (REJECTED.includes(code) && !connection.subscription.isOutdated()) {
    return descend(ladder) && failure !== 'invalidContext' ? 'unreachable' : 'invalidContext'
  }
  const isSocket = transportOf(ladder) === 'socket' && !connection.needsRequest
  // A poll without a response shows that the server is away. An error shows that polls do not work.
  if (isSocket ? !connection.isCurrent : isPoll && code) strike(ladder, connection.alarms.now())
  if (!isSocket && !isPoll) toTop(ladder)
  return 'unreachable'
}

function pause(connection: Connection, reason: Connection['paused']): void {
  halt(connection)
  connection.paused = reason
  connection.healthyAt = Infinity
  connection.isCurrent = connection.canPoll = false
  connection.onFailure()
}

function followLifecycle(connection: Connection): void {
  const { platform, alarms, paused } = connection
  const { lifecycle } = platform
  const isHidden = lifecycle.isHidden()
  if (lifecycle.isOffline()) {
    pause(connection, 'offline')
    return
  }
  if (!isHidden) alarms.clear(HIDE)
  else if (!alarms.has(HIDE)) alarms.set(HIDE, HIDDEN_MS, () => pause(connection, 'hidden'))
  if (paused && !(isHidden && paused === 'hidden')) {
    connection.paused = undefined
    connection.needsRequest = true
    wait(connection, paused === 'hidden' ? 0 : MIN_DELAY_MS + platform.random() * ONLINE_SPREAD_MS)
  }
}
