import { type EvaluationContext, type FlagError, type FlagSet, isFlagError } from '@ff/core'
import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import { type EnvironmentScope, keyRefused } from '../access/sdk-keys.ts'
import type { Clock } from '../clock.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import type { Answer, Evaluator } from '../evaluation/evaluator.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Exchange, Waiting } from '../http/exchange.ts'
import type { SdkHeaders } from '../http/sdk-headers.ts'
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
  readonly exchange: Pick<Exchange, 'hold' | 'resume'>
  /** What the answer will say besides its body. */
  readonly headers: SdkHeaders
}

/** An answer that many may be given; its text is encoded once for all of them. */
export interface PollAnswer extends Answer {
  readonly bytes: Uint8Array
}

/** What there is to answer now, or that the request is held until there is something. */
type Waited = PollAnswer | 'held'

const encoder = new TextEncoder()

/** Holds requests until their sessions have something to say. */
export class LongPolls {
  readonly #parts: LongPollsParts
  readonly #wheel: TimerWheel
  /** What was answered last: clients with equal contexts are told one after the other. */
  #last:
    | { readonly audience: Audience; readonly moment: Moment; readonly answer: PollAnswer }
    | undefined
  #settled: ParkedPoll[] = []

  constructor(parts: LongPollsParts) {
    this.#parts = parts
    this.#wheel = new TimerWheel(parts.clock)
  }

  /**
   * The values of the context, if they differ from those the caller has. If not, the exchange is
   * held for a `ParkedPoll`, and resumed when they do, after the hold time, when the key is revoked
   * or when the caller has gone. Throws `UNAVAILABLE` when the caller has newer values than this
   * process can get.
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

  #hold(poll: Poll, since: EntityTag | undefined, audience: Audience, moment: Moment): Waited {
    const parked = new ParkedPoll(this, poll, since?.valuesHash)
    const session = new FlagSession({ scope: poll.scope, audience, moment, sink: parked })
    const holdMs = POLL_HOLD_MS + Math.random() * (POLL_SPREAD_MS - TICK_MS)
    parked.park(session, this.#wheel.add(parked, holdMs))
    poll.exchange.hold(parked)
    if (!parked.isSettled) this.#parts.sessions.add(session)
    return 'held'
  }

  /** A request is to be held no longer. */
  release(parked: ParkedPoll, session: FlagSession, tick: number): void {
    this.#parts.sessions.remove(session)
    this.#wheel.cancel(parked, tick)
    // Evaluating for many and then writing to them is faster than doing both by turns.
    if (this.#settled.push(parked) === 1) queueMicrotask(() => this.#resumeSettled())
  }

  #resumeSettled(): void {
    const settled = this.#settled
    this.#settled = []
    for (const parked of settled) parked.resume()
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
    const { context, contextHash } = audience
    const made = this.#parts.evaluator.answer(moment.flagSet, context, contextHash)
    const answer = { ...made, bytes: encoder.encode(made.json ?? '') }
    this.#last = { audience, moment, answer }
    return answer
  }
}

/** A request that is held. There are thousands: it is one object, without closures or promises. */
export class ParkedPoll implements SessionSink, Due, Waiting {
  readonly headers: SdkHeaders
  readonly #polls: LongPolls
  readonly #exchange: Pick<Exchange, 'resume'>
  /** The hash of the values that the caller has; undefined: those of its arrival. */
  readonly #known: string | undefined
  #session: FlagSession | undefined
  #tick = 0
  /** Undefined as long as the request is held. */
  #end: PollAnswer | FlagError | 'gone' | undefined

  constructor(polls: LongPolls, { exchange, headers }: Poll, known: string | undefined) {
    this.#polls = polls
    this.#exchange = exchange
    this.headers = headers
    this.#known = known
  }

  get transport(): LiveTransport {
    return 'poll'
  }

  get environmentId(): string {
    return this.#session?.scope.environmentId ?? ''
  }

  park(session: FlagSession, tick: number): void {
    this.#session = session
    this.#tick = tick
  }

  get isSettled(): boolean {
    return this.#end !== undefined
  }

  /**
   * What the request is answered, once; undefined: nothing. Throws `UNAUTHENTICATED` when its key
   * was revoked.
   */
  takeAnswer(): PollAnswer | undefined {
    const end = this.#end
    // What is old and forgotten would keep the answer, which is new, until all garbage is collected.
    this.#end = 'gone'
    if (isFlagError(end)) throw end
    return end === 'gone' ? undefined : end
  }

  deliver(): boolean {
    if (this.#session === undefined) return true
    const answer = this.#polls.presentAnswer(this.#session)
    if (answer.tag.valuesHash !== this.#known) this.#settle(answer)
    return true
  }

  end(reason: EndReason): void {
    if (reason === 'goingAway') this.fallDue()
    else this.#settle(keyRefused())
  }

  fallDue(): void {
    if (this.#session !== undefined) this.#settle(this.#polls.presentAnswer(this.#session))
  }

  /** The caller has gone. */
  leave(): void {
    this.#settle('gone')
  }

  /** Has the request handled again. */
  resume(): void {
    this.#exchange.resume()
  }

  #settle(end: PollAnswer | FlagError | 'gone'): void {
    if (this.#end !== undefined || this.#session === undefined) return
    this.#end = end
    this.#polls.release(this, this.#session, this.#tick)
  }
}
