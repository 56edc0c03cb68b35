import type { EvaluationContext, FlagSet } from '@ff/core'
import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import { type EnvironmentScope, keyRefused } from '../access/sdk-keys.ts'
import type { Clock } from '../clock.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import type { Answer, Evaluator } from '../evaluation/evaluator.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Exchange, Waiting } from '../http/exchange.ts'
import { whenHere } from '../when-here.ts'
import type { Audience } from './audience.ts'
import {
  type EndReason,
  FlagSession,
  type LiveTransport,
  type SessionSink,
} from './flag-session.ts'
import { Moment } from './moment.ts'
import type { SessionRegistry } from './session-registry.ts'
import { type Due, TICK_MS, TimerWheel } from './timer-wheel.ts'

interface LongPollsParts {
  readonly cache: FlagSetCache
  readonly evaluator: Evaluator
  readonly sessions: SessionRegistry
  readonly clock: Clock
}

export interface Poll {
  readonly scope: EnvironmentScope
  readonly context: EvaluationContext
  /** The entity tag of the answer that the caller has; undefined: wait for the next change. */
  readonly since: string | undefined
  /** Tells when the caller goes away, which frees its place. */
  readonly exchange: Pick<Exchange, 'whenGone'>
}

/** An answer that many may be given; its text is encoded once for all of them. */
interface PollAnswer extends Answer {
  readonly bytes: Uint8Array
}

/** What a held request is answered; undefined: the caller has gone. */
export type Waited = PollAnswer | undefined

const encoder = new TextEncoder()

/** Holds requests until their sessions have something to say. */
export class LongPolls {
  readonly #parts: LongPollsParts
  readonly #wheel: TimerWheel
  /** What was answered last: clients with equal contexts are told one after the other. */
  #last:
    | { readonly audience: Audience; readonly moment: Moment; readonly answer: PollAnswer }
    | undefined

  constructor(parts: LongPollsParts) {
    this.#parts = parts
    this.#wheel = new TimerWheel(parts.clock)
  }

  /**
   * The values of the context, as soon as they differ from those the caller has, or after the
   * hold time; undefined when the caller has gone. Throws `UNAUTHENTICATED` when the key is
   * revoked meanwhile, and `UNAVAILABLE` when the caller has newer values than this process can get.
   */
  wait(poll: Poll): Waited | Promise<Waited> {
    const { cache } = this.#parts
    const { environmentId } = poll.scope
    const since = poll.since === undefined ? undefined : asEntityTag(poll.since)
    return whenHere(cache.find(environmentId) ?? cache.get(environmentId), (loaded) => {
      if (since === undefined || since.version <= loaded.version) {
        return this.#begin(poll, since, loaded)
      }
      const refreshed = cache.refresh(environmentId, since.version)
      return refreshed.then(() => this.#begin(poll, since, loaded))
    })
  }

  /** Nothing is awaited here until the session is registered, so that it misses no change. */
  #begin(poll: Poll, since: EntityTag | undefined, loaded: FlagSet): Waited | Promise<Waited> {
    const { cache, sessions, clock } = this.#parts
    const { environmentId } = poll.scope
    const moment = Moment.of(cache.find(environmentId) ?? loaded, clock.now())
    const audience = sessions.audienceOf(environmentId, poll.context)
    if (poll.since !== undefined && !this.#isUpToDate(since, audience, moment)) {
      return this.#answerAt(audience, moment)
    }
    return this.#hold(poll, since, audience, moment)
  }

  /** Whether the caller has what this process would answer, or something newer. */
  #isUpToDate(since: EntityTag | undefined, audience: Audience, moment: Moment): boolean {
    const { version, instants } = moment.flagSet
    if (since === undefined || since.version > version) return false
    const isOfContext = since.version === version && since.contextHash === audience.contextHash
    if (isOfContext && since.step >= moment.step && since.step <= instants.length) return true
    return since.valuesHash === this.#answerAt(audience, moment).tag.valuesHash
  }

  #hold(
    { scope, exchange }: Poll,
    since: EntityTag | undefined,
    audience: Audience,
    moment: Moment,
  ): Promise<Waited> {
    const parked = new ParkedPoll(this, since?.valuesHash)
    const session = new FlagSession({ scope, audience, moment, sink: parked })
    const holdMs = POLL_HOLD_MS + Math.random() * (POLL_SPREAD_MS - TICK_MS)
    parked.park(session, this.#wheel.add(parked, holdMs))
    exchange.whenGone(parked)
    if (!parked.isSettled) this.#parts.sessions.add(session)
    return parked.answer
  }

  /** Forgets a request that is to be held no longer. */
  release(parked: ParkedPoll, session: FlagSession, tick: number): void {
    this.#parts.sessions.remove(session)
    this.#wheel.cancel(parked, tick)
  }

  /** What a session's client would be answered now. */
  presentAnswer({ scope, audience, told }: FlagSession): PollAnswer {
    const { cache, clock } = this.#parts
    const flagSet = cache.find(scope.environmentId) ?? told.flagSet
    return this.#answerAt(audience, Moment.of(flagSet, clock.now()))
  }

  #answerAt(audience: Audience, moment: Moment): PollAnswer {
    const last = this.#last
    if (last?.audience === audience && last.moment === moment) return last.answer
    const made = this.#parts.evaluator.answer(moment.flagSet, audience.context)
    const answer = { ...made, bytes: encoder.encode(made.json ?? '') }
    this.#last = { audience, moment, answer }
    return answer
  }
}

type Settle = (answer: Waited | Promise<never>) => void

/** A request that is held. There are thousands: it is one object, without closures. */
class ParkedPoll implements SessionSink, Due, Waiting {
  readonly #polls: LongPolls
  /** The hash of the values that the caller has; undefined: those of its arrival. */
  readonly #known: string | undefined
  #settle: Settle | undefined
  #session: FlagSession | undefined
  #tick = 0
  readonly answer = new Promise<Waited>((settle) => {
    this.#settle = settle
  })

  constructor(polls: LongPolls, known: string | undefined) {
    this.#polls = polls
    this.#known = known
  }

  get transport(): LiveTransport {
    return 'poll'
  }

  park(session: FlagSession, tick: number): void {
    this.#session = session
    this.#tick = tick
  }

  get isSettled(): boolean {
    return this.#session === undefined
  }

  deliver(): boolean {
    if (this.#session === undefined) return true
    const answer = this.#polls.presentAnswer(this.#session)
    if (answer.tag.valuesHash !== this.#known) this.#end(answer)
    return true
  }

  end(reason: EndReason): void {
    if (reason === 'goingAway') this.fallDue()
    else this.#end(Promise.reject(keyRefused()))
  }

  fallDue(): void {
    if (this.#session !== undefined) this.#end(this.#polls.presentAnswer(this.#session))
  }

  /** The caller has gone. */
  leave(): void {
    this.#end(undefined)
  }

  #end(answer: Waited | Promise<never>): void {
    if (this.#session !== undefined) this.#polls.release(this, this.#session, this.#tick)
    this.#session = undefined
    this.#settle?.(answer)
  }
}
