import type { EvaluationContext } from '@ff/core'
import { jsonOf } from '@ff/core/all-flags'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { evaluateTimed } from '../evaluation/evaluated.ts'
import { type FlagSetState, type FlagUpdate, flagSetDiffOf } from './flag-set-diff.ts'
import { contextOfText, type SubscriberGroup } from './held-context.ts'

/**
 * Why the server ends a session: its key is no longer valid, the server stops, or a client of
 * another SDK key needs its room.
 */
export type EndReason = 'keyRefused' | 'goingAway' | 'gaveWay'

/** How a client is kept up to date. */
export type LiveTransport = 'ws' | 'poll'

/** How a transport delivers the updates of its session. */
export interface SessionSink {
  readonly transport: LiveTransport
  /** Returns false if the client cannot take the update now; `resume` makes up for it later. */
  deliver(update: FlagUpdate): boolean
  end(reason: EndReason): void
}

interface FlagSessionOptions {
  readonly scope: EnvironmentScope
  readonly group: SubscriberGroup
  readonly state: FlagSetState
  readonly sink: SessionSink
}

/**
 * One live client. It keeps no values: those of the client are the evaluation of its context at the
 * state of the last delivery, and can be evaluated again.
 */
export class FlagSession {
  readonly scope: EnvironmentScope
  readonly #sink: SessionSink
  #group: SubscriberGroup
  #lastDelivered: FlagSetState
  #missed: 'nothing' | 'changes' | 'everything' = 'nothing'

  /** A session whose client already has, or does not need, the values at `state`. */
  constructor({ scope, group, state, sink }: FlagSessionOptions) {
    this.scope = scope
    this.#sink = sink
    this.#group = group
    this.#lastDelivered = state
  }

  get transport(): LiveTransport {
    return this.#sink.transport
  }

  /** The sessions with the same context. */
  get group(): SubscriberGroup {
    return this.#group
  }

  /** The state of which the client has the values. */
  get lastDelivered(): FlagSetState {
    return this.#lastDelivered
  }

  /** Whether the client could not take the last delivery. */
  get isStale(): boolean {
    return this.#missed !== 'nothing'
  }

  /** Whether the client has received everything up to this version. */
  hasVersion(version: number): boolean {
    return !this.isStale && this.#lastDelivered.flagSet.version >= version
  }

  /** Gives the session another context; `sendAll` must follow. */
  moveTo(group: SubscriberGroup): void {
    this.#group = group
  }

  /** Sends all values. A caller that has just parsed the context passes it. */
  sendAll(current: FlagSetState, context?: EvaluationContext): void {
    const { flagSet, now } = current
    const parsed = context ?? contextOfText(this.#group.text)
    const evaluated = evaluateTimed({ flagSet, context: parsed, now })
    const flags = jsonOf(evaluated.evaluation)
    const text = `{"type":"flags","flags":${flags},"version":${flagSet.version},"full":true}`
    const isTaken = this.#sink.deliver({ message: { text }, full: true, evaluated })
    this.#lastDelivered = current
    this.#missed = isTaken ? 'nothing' : 'everything'
  }

  /** Sends what differs from the last delivery, unless the client still has to catch up. */
  sendChanges(current: FlagSetState): void {
    if (this.isStale || this.#lastDelivered === current) return
    const update = flagSetDiffOf(this.#lastDelivered, current).updateFor(this.#group)
    if (update === undefined || this.#sink.deliver(update)) this.#lastDelivered = current
    else this.#missed = 'changes'
  }

  /** Sends what the client has missed; called when it can take updates again. */
  resume(current: FlagSetState): void {
    const missed = this.#missed
    this.#missed = 'nothing'
    if (missed === 'everything') this.sendAll(current)
    else if (missed === 'changes') this.sendChanges(current)
  }

  end(reason: EndReason): void {
    this.#sink.end(reason)
  }
}
