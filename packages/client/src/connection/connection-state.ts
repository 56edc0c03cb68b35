import type { Stop, Subscription } from '../transports/transport.ts'
import type { Alarms } from './alarms.ts'
import { createLadder, type Ladder, type Transport } from './ladder.ts'
import type { Platform } from './platform.ts'

/**
 * The state of a client's connection: the transport that keeps the values current; `connecting`;
 * `waiting` until the next attempt after a failure; `offline` while the platform has no network;
 * `hidden` after the page was hidden for two minutes; `idle` if it was never started; or `closed`.
 */
export type ConnectionState =
  | 'socket'
  | 'long-poll'
  | 'request'
  | 'connecting'
  | 'waiting'
  | 'offline'
  | 'hidden'
  | 'idle'
  | 'closed'

/**
 * The reason why a client is not connected: the server refuses the SDK key, refuses the context, or
 * cannot be reached.
 */
export type ConnectionFailure = 'refused' | 'invalidContext' | 'unreachable'

/** The parts that a connection needs. */
export interface ConnectionOptions {
  readonly subscription: Subscription
  readonly platform: Platform
  readonly alarms: Alarms
  /** The base URL of the server, without a slash at the end. */
  readonly url: string
  /** `auto` uses all transports that the platform has. */
  readonly transport: Transport | 'auto'
  /** Returns `true` if the application has no state at all. By default, it has. */
  readonly isEmpty?: () => boolean
  /** Receives an error for each new cause for which the server is not available. */
  readonly report: (error: unknown) => void
  /**
   * Called after each answer or update with which the subscription is current. It may call any
   * function of the connection.
   */
  readonly onCurrent: () => void
  /** Called after each failure, and without one when the connection starts or pauses. */
  readonly onFailure: (failure?: ConnectionFailure) => void
}

/**
 * Keeps a subscription current. At most one socket or request is in progress, and one alarm decides
 * about the next step. While the application has no state, a request can be in progress beside a
 * socket that does not respond.
 */
export interface Connection extends ConnectionOptions {
  readonly ladder: Ladder
  /** Ends the socket or request in progress. */
  stop?: Stop | undefined
  /** Ends the request beside the socket. */
  stopBeside?: Stop | undefined
  /** Sends a text on the open socket. */
  send?: ((text: string) => void) | undefined
  /** `true` while a poll is pending. */
  isPoll?: boolean
  /** `true` if the subscription is current and the connection keeps it so. */
  isCurrent: boolean
  /** `true` if the next request over long-poll is a poll. */
  canPoll?: boolean
  /** The time of the last request. */
  requestedAt: number
  /** The version of the last response; `null` if it had none. */
  version?: string | null
  /** The pause between polls that end immediately without changes. */
  pauseMs: number
  /** `true` if a request must precede the socket. */
  needsRequest?: boolean
  paused?: 'offline' | 'hidden' | 'idle' | 'closed' | undefined
  failure?: ConnectionFailure | undefined
  /** The number of successive failures. */
  failures: number
  /** The time of the first success after the last failure. All times are monotonic. */
  healthyAt: number
  /** The time until which the subscription was current. */
  lostAt: number
  /** The earliest time of the next attempt. */
  notBefore: number
  /** The causes of failures that were reported since the connection was healthy. */
  readonly causes: Set<string>
  /** `true` if a request has succeeded since the server was last away. */
  requestsWork?: boolean
  /** The time until which failures are not reported, because the platform is back from a pause. */
  quietUntil: number
  /** Ends the calls of the lifecycle's listener; absent while the connection is idle or closed. */
  unsubscribe?: (() => void) | undefined
}

/** Creates a connection that is idle. */
export function createConnection(options: ConnectionOptions): Connection {
  const { platform, transport } = options
  const transports: readonly Transport[] =
    transport === 'auto' ? ['socket', 'long-poll', 'request'] : [transport]
  return {
    ...options,
    ladder: createLadder(
      transports.filter((each) => (each === 'socket' ? platform.webSocket : platform.fetch)),
    ),
    isCurrent: false,
    failures: 0,
    healthyAt: Infinity,
    lostAt: -Infinity,
    notBefore: 0,
    requestedAt: 0,
    pauseMs: 0,
    causes: new Set(),
    quietUntil: 0,
    paused: 'idle',
  }
}
