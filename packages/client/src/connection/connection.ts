import type { FLAG_SET_VERSION_HEADER, SDK_PATHS } from '@ff/protocol/sdk'
import { sendRequest, UNEXPECTED } from '../transports/request.ts'
import { openSocket } from '../transports/socket.ts'
import type {
  ClientSocketConstructor,
  End,
  Fetch,
  OnEnd,
  Stop,
  SubscriptionResponse,
} from '../transports/transport.ts'
import { MIN_DELAY_MS } from './backoff.ts'
import type { Connection, ConnectionState } from './connection-state.ts'
import { delayAfter, hasRequests } from './failures.ts'
import { planClimb, toTop, transportOf } from './ladder.ts'
import { pauseAfter } from './poll-pause.ts'

/** The types ensure that the constants are those of the protocol, without importing all of them. */
const VERSION_HEADER: typeof FLAG_SET_VERSION_HEADER = 'X-FF-Version'
const SOCKET_PATH: typeof SDK_PATHS.socket = '/ws/sdk'

/** The name of the alarm for the next step. */
const STEP = 1
/** The name of the alarm that ends the connection of a hidden page. */
const HIDE = 2
/** The name of the alarm for the request beside a socket. */
const BESIDE = 4

const ANSWER_TIMEOUT_MS = 10_000
const POLL_TIMEOUT_MS = 75_000
/** The time in which a socket responds, unless a proxy swallows it. */
const BESIDE_MS = 400
const REQUEST_INTERVAL_MS = 30_000
const SILENCE_MS = 25_000
const HIDDEN_MS = 120_000
const ONLINE_SPREAD_MS = 1000
/** The time after a pause in which the network of the platform may not work yet. */
const RETURN_MS = 10_000

/** Starts a connection that is idle or closed. */
export function openConnection(connection: Connection): void {
  if (connection.unsubscribe) return
  connection.paused = undefined
  const { lifecycle } = connection.platform
  connection.unsubscribe = lifecycle.subscribe(() => followLifecycle(connection))
  wait(connection, 0)
  followLifecycle(connection)
  connection.onFailure()
}

/** Ends the connection until it is opened again. */
export function closeConnection(connection: Connection): void {
  connection.unsubscribe?.()
  connection.unsubscribe = undefined
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
      connection.causes.clear()
    }
    wait(connection, 0)
  } else if (hasRequests(connection) && connection.healthyAt === Infinity) {
    // The socket has not responded yet, and a proxy can have swallowed it.
    requestNow(connection)
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
  connection.stopBeside?.()
  connection.stop?.()
  connection.stop = connection.stopBeside = connection.send = undefined
  connection.isPoll = false
  connection.alarms.clear(STEP)
  connection.alarms.clear(BESIDE)
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
    fail(connection, { problem: 'no transport' })
  }
}

/** Ends the step in progress as a failure if it does not end within a time. */
function setDeadline(connection: Connection, delayMs: number): void {
  connection.alarms.set(STEP, delayMs, () => {
    fail(connection, { problem: `no response within ${delayMs / 1000} s` })
  })
}

function connect(connection: Connection, webSocket: ClientSocketConstructor): void {
  connection.isCurrent = false
  // The health of another transport does not count for the socket.
  connection.healthyAt = Infinity
  setDeadline(connection, ANSWER_TIMEOUT_MS)
  const { fetch } = connection.platform
  connection.alarms.set(BESIDE, BESIDE_MS, () => {
    if (fetch && hasRequests(connection) && connection.isEmpty?.()) requestBeside(connection, fetch)
  })
  try {
    connection.stop = openSocket(webSocket, connection.url.replace(/^http/, 'ws') + SOCKET_PATH, {
      onOpen(send) {
        connection.send = send
        send(connection.subscription.message(true))
      },
      onMessage: (message) => receive(connection, message),
      onEnd: (end) => fail(connection, end),
    })
  } catch {
    fail(connection, { problem: 'the platform refuses the WebSocket' })
  }
}

/** Requests the state while the socket has not responded. */
function requestBeside(connection: Connection, fetch: Fetch): void {
  connection.stopBeside = send(
    connection,
    fetch,
    (response) => {
      const receipt = connection.subscription.respond(response)
      if (receipt !== 'current') return
      connection.requestsWork = true
      connection.onCurrent()
    },
    // A request follows the end of the socket.
    () => {},
  )
}

/** Ends the step in progress, and requests the state over HTTP. */
function requestNow(connection: Connection): void {
  connection.needsRequest = true
  wait(connection, 0)
}

function receive(
  connection: Connection,
  message: Readonly<Record<string, unknown>> | undefined,
): void {
  const receipt = message ? connection.subscription.receive(message) : 'invalid'
  if (receipt === 'invalid') fail(connection, { problem: UNEXPECTED })
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
  } else requestNow(connection)
}

function request(connection: Connection, fetch: Fetch, isPoll = false): void {
  connection.isPoll = isPoll
  connection.requestedAt = connection.alarms.now()
  setDeadline(connection, isPoll ? POLL_TIMEOUT_MS : ANSWER_TIMEOUT_MS)
  connection.stop = send(
    connection,
    fetch,
    (response) => respond(connection, response),
    (end) => fail(connection, end),
  )
}

function send(
  connection: Connection,
  fetch: Fetch,
  onResponse: (response: SubscriptionResponse) => void,
  onEnd: OnEnd,
): Stop {
  const { path, ...rest } = connection.subscription.request(!!connection.isPoll)
  return sendRequest(fetch, connection.url + path, rest, onResponse, onEnd)
}

function respond(connection: Connection, response: SubscriptionResponse): void {
  const { platform } = connection
  const { headers } = response
  const receipt = connection.subscription.respond(response)
  if (receipt === 'outdated') wait(connection, 0)
  else if (receipt !== 'current') fail(connection, { problem: UNEXPECTED })
  else {
    const isRequest = transportOf(connection.ladder) === 'request'
    const intervalMs = REQUEST_INTERVAL_MS * (1 + platform.random())
    const pauseMs = pauseAfter(connection, headers.get(VERSION_HEADER))
    succeed(connection)
    connection.canPoll = connection.requestsWork = true
    connection.needsRequest = false
    wait(connection, isRequest ? intervalMs : pauseMs)
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
function fail(connection: Connection, end: End): void {
  const delayMs = delayAfter(connection, end)
  if (delayMs === undefined) requestNow(connection)
  else {
    wait(connection, delayMs)
    connection.onFailure(connection.failure)
  }
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
    connection.quietUntil = alarms.now() + RETURN_MS
    wait(connection, paused === 'hidden' ? 0 : MIN_DELAY_MS + platform.random() * ONLINE_SPREAD_MS)
  }
}
