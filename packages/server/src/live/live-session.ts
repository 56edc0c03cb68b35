import type { EnvironmentScope } from '../access/scope.ts'
import type { FlagSetState } from './flag-set-diff.ts'
import type { SubscriberGroup } from './held-context.ts'

/**
 * The reason why the server ends a session: its key is no longer valid (`keyRefused`), the server
 * is closing (`goingAway`), or another client needs room (`gaveWay`).
 */
export type EndReason = 'keyRefused' | 'goingAway' | 'gaveWay'

/** The transport by which a client receives updates. An event stream of OFREP counts as `poll`. */
export type LiveTransport = 'ws' | 'poll'

/** One live client, which receives the changes of an environment. */
export interface LiveSession {
  readonly scope: EnvironmentScope
  readonly transport: LiveTransport
  /** The group of the sessions that receive the same updates. */
  readonly group: SubscriberGroup
  /** The version of the last changes that the client has received. */
  readonly version: number
  /** `true` if the client has confirmed the version that it has. */
  readonly hasConfirmed: boolean
  /** Returns `true` if the client has received all changes up to this version. */
  hasVersion(version: number): boolean
  /** Sends what differs from the last delivery. Does nothing if the client is too slow. */
  sendChanges(current: FlagSetState): void
  /** Ends the session on the server's side. */
  end(reason: EndReason): void
}
