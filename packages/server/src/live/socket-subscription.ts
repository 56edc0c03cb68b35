import type { ContextMessage } from '@ff/protocol/sdk'
import type { RequestLimiter } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { FlagSetUpdates } from '../evaluation/flag-set-updates.ts'
import type { Clock } from '../runtime/clock.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import type { ClientBudget } from './client-budget.ts'
import type { Message } from './flag-set-diff.ts'
import type { EndReason } from './live-session.ts'
import type { SessionRegistry } from './session-registry.ts'

/** The dependencies that all subscriptions of one server share. */
export interface SubscriptionOptions {
  readonly limiter: RequestLimiter
  readonly cache: FlagSetCache
  readonly updates: FlagSetUpdates
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly scheduler: EvaluationScheduler
  readonly usage: UsageRecorder
  readonly clock: Clock
}

/** The socket of a subscription. */
export interface SubscribedSocket {
  /** `false` after the socket has closed. Nothing is sent then. */
  readonly isOpen: boolean
  /**
   * Sends a message. Returns `false` if too many bytes wait to be sent to the client. The socket
   * then calls `SocketSubscription.resume` when the client can receive messages again.
   */
  sendUpdate(message: Message): boolean
  /** Closes the socket. For a reason other than `goingAway`, sends an error message first. */
  end(reason: EndReason): void
}

/** What the client of a socket receives: the values of its context, or the flag set. */
export interface SocketSubscription {
  /** Starts the session of a client with a valid key. `length` is the length of its message. */
  start(scope: EnvironmentScope, length: number): Promise<void>
  /** Changes the context. `length` is the length of the message. */
  changeContext(message: ContextMessage, length: number): Promise<void>
  /** Sends a slow client what it has missed. */
  resume(): void
  /** Releases the resources of the client. */
  close(): void
}
