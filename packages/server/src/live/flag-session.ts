import type { EvaluationContext } from '@ff/core'
import { jsonOf } from '@ff/core/all-flags'
import type { EnvironmentScope } from '../access/scope.ts'
import { evaluateTimed } from '../evaluation/evaluated.ts'
import { type FlagSetState, type FlagUpdate, flagSetDiffOf } from './flag-set-diff.ts'
import { contextOfText, type SubscriberGroup } from './held-context.ts'
import type { EndReason, LiveSession, LiveTransport } from './live-session.ts'

/** The methods by which a session sends updates over its transport. */
export interface SessionSink {
  readonly transport: LiveTransport
  /** `true` if the request of the client named the values that it has. */
  readonly hasConfirmed: boolean
  /**
   * Sends an update. Returns `false` if the client is too slow to receive the update now. The sink
   * must then call `FlagSession.resume` when the client can receive updates again.
   */
  deliver(update: FlagUpdate): boolean
  /** Ends the connection or poll of the client. */
  end(reason: EndReason): void
}

interface FlagSessionOptions {
  readonly scope: EnvironmentScope
  readonly group: SubscriberGroup
  readonly state: FlagSetState
  readonly sink: SessionSink
}

/** What a full update responds to. */
export interface FullReply {
  /** The number of the client's request; absent if the client has sent none. */
  readonly id?: number | undefined
  /** `true` if the store no longer has the version that the client named. */
  readonly isRestored?: boolean
}

/**
 * One live client that receives values. A session stores no flag values. The values that the client has can be evaluated
 * again from its context and the state of the last delivery.
 */
export class FlagSession implements LiveSession {
  readonly scope: EnvironmentScope
  readonly #sink: SessionSink
  #group: SubscriberGroup
  #lastDelivered: FlagSetState
  /** What the client was too slow to receive. */
  #missed: 'nothing' | 'changes' | FullReply = 'nothing'

  /** Creates a session for a client that already has, or does not need, the values at `state`. */
  constructor({ scope, group, state, sink }: FlagSessionOptions) {
    this.scope = scope
    this.#sink = sink
    this.#group = group
    this.#lastDelivered = state
  }

  /** The transport of the client. */
  get transport(): LiveTransport {
    return this.#sink.transport
  }

  /** `true` if the client has confirmed the version that it has. */
  get hasConfirmed(): boolean {
    return this.#sink.hasConfirmed
  }

  /** The version of the last changes that the client has received. */
  get version(): number {
    return this.#lastDelivered.flagSet.version
  }

  /** The group of the sessions with the same context. */
  get group(): SubscriberGroup {
    return this.#group
  }

  /** The state of the last delivery, which determines the client's values. */
  get lastDelivered(): FlagSetState {
    return this.#lastDelivered
  }

  /** `true` if the client was too slow to receive the last delivery. */
  get isStale(): boolean {
    return this.#missed !== 'nothing'
  }

  /** Returns `true` if the client has received all changes up to this version. */
  hasVersion(version: number): boolean {
    return !this.isStale && this.#lastDelivered.flagSet.version >= version
  }

  /** Changes the context of the session. `sendAll` must be called afterwards. */
  moveTo(group: SubscriberGroup): void {
    this.#group = group
  }

  /** Sends all values. Pass the context if it is already parsed. */
  sendAll(current: FlagSetState, reply: FullReply, context?: EvaluationContext): void {
    const { flagSet, now } = current
    const parsed = context ?? contextOfText(this.#group.text)
    const evaluated = evaluateTimed({ flagSet, context: parsed, now })
    const flags = jsonOf(evaluated.evaluation)
    const { id, isRestored } = reply
    const marks = `${id === undefined ? '' : `,"id":${id}`}${isRestored ? ',"restored":true' : ''}`
    const text = `{"type":"flags","flags":${flags},"version":${flagSet.version},"full":true${marks}}`
    const isTaken = this.#sink.deliver({ message: { text }, full: true, evaluated })
    this.#lastDelivered = current
    this.#missed = isTaken ? 'nothing' : reply
  }

  /** Sends the values that differ from the last delivery. Does nothing if the client is stale. */
  sendChanges(current: FlagSetState): void {
    if (this.isStale || this.#lastDelivered === current) return
    const update = flagSetDiffOf(this.#lastDelivered, current).updateFor(this.#group)
    if (update === undefined || this.#sink.deliver(update)) this.#lastDelivered = current
    else this.#missed = 'changes'
  }

  /**
   * Sends the changes that the client has missed. Call it when the client can receive updates
   * again.
   */
  resume(current: FlagSetState): void {
    const missed = this.#missed
    this.#missed = 'nothing'
    if (missed === 'changes') this.sendChanges(current)
    else if (missed !== 'nothing') this.sendAll(current, missed)
  }

  /** Ends the session on the server's side. */
  end(reason: EndReason): void {
    this.#sink.end(reason)
  }
}
