import type { EvaluationContext } from '@ff/core'
import { jsonOf } from '@ff/core/all-flags'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { evaluateAllTimed } from '../evaluation/evaluated.ts'
import type { Audience } from './audience.ts'
import type { FlagUpdate } from './flag-update.ts'
import { contextOfText } from './held-context.ts'
import type { Moment } from './moment.ts'

/**
 * Why the server ends a session: its key is no longer valid, the server stops, or a client of
 * another SDK key needs its room.
 */
export type EndReason = 'keyRefused' | 'goingAway' | 'gaveWay'

/** How a client is kept up to date. */
export type LiveTransport = 'ws' | 'poll'

/** How a transport delivers what its session has to say. */
export interface SessionSink {
  readonly transport: LiveTransport
  /** False when the client cannot take it now; `update` makes up for it later. */
  deliver(update: FlagUpdate): boolean
  end(reason: EndReason): void
}

interface SessionParts {
  readonly scope: EnvironmentScope
  readonly audience: Audience
  readonly moment: Moment
  readonly sink: SessionSink
}

/**
 * One live client. It keeps no values: what the client was told is what its context evaluates
 * to at the moment of the last delivery, and can be had again.
 */
export class FlagSession {
  readonly scope: EnvironmentScope
  readonly #sink: SessionSink
  #audience: Audience
  #told: Moment
  #owes: 'nothing' | 'changes' | 'everything' = 'nothing'

  /** A session whose client already has, or does not need, the values of this moment. */
  constructor({ scope, audience, moment, sink }: SessionParts) {
    this.scope = scope
    this.#sink = sink
    this.#audience = audience
    this.#told = moment
  }

  get transport(): LiveTransport {
    return this.#sink.transport
  }

  /** Those with whom it shares its context. */
  get audience(): Audience {
    return this.#audience
  }

  /** What the client was told is the evaluation at this moment. */
  get told(): Moment {
    return this.#told
  }

  /** Whether the client could not take the last delivery. */
  get isStale(): boolean {
    return this.#owes !== 'nothing'
  }

  /** Whether the client was told everything up to this version. */
  knows(version: number): boolean {
    return !this.isStale && this.#told.flagSet.version >= version
  }

  /** From now on evaluates for another context; what the client is told next must be everything. */
  moveTo(audience: Audience): void {
    this.#audience = audience
  }

  /** Tells everything. A caller that has just parsed the context passes it. */
  announce(present: Moment, context?: EvaluationContext): void {
    const { flagSet, now } = present
    const parsed = context ?? contextOfText(this.#audience.text)
    const evaluated = evaluateAllTimed(flagSet, parsed, now)
    const flags = jsonOf(evaluated.evaluation)
    const text = `{"type":"flags","flags":${flags},"version":${flagSet.version},"full":true}`
    const isTaken = this.#sink.deliver({ message: { text }, full: true, evaluated })
    this.#told = present
    this.#owes = isTaken ? 'nothing' : 'everything'
  }

  /** Tells what differs from what the client was told, unless it still has to catch up. */
  update(present: Moment): void {
    if (this.isStale || this.#told === present) return
    const update = present.since(this.#told).of(this.#audience)
    if (update === undefined || this.#sink.deliver(update)) this.#told = present
    else this.#owes = 'changes'
  }

  /** The client can take something again: tells it what it has missed, at once. */
  resume(present: Moment): void {
    const owed = this.#owes
    this.#owes = 'nothing'
    if (owed === 'everything') this.announce(present)
    else if (owed === 'changes') this.update(present)
  }

  end(reason: EndReason): void {
    this.#sink.end(reason)
  }
}
