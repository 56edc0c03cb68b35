import { type EvaluationContext, type FlagError, type FlagSet, isFlagError } from '@ff/core'
import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import { type EnvironmentScope, keyRefused } from '../access/sdk-keys.ts'
import type { Clock } from '../clock.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { Answer, Evaluator } from '../evaluation/evaluator.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Exchange, Waiting } from '../http/exchange.ts'
import type { SdkHeaders } from '../http/sdk-headers.ts'
import type { Audience } from './audience.ts'
import { type ClientBudget, gaveWay, type Reservation } from './client-budget.ts'
import {
  type EndReason,
  FlagSession,
  type LiveTransport,
  type SessionSink,
} from './flag-session.ts'
import type { FlagUpdate } from './flag-update.ts'
import { contextOfText, type HeldContext, toHeldContext } from './held-context.ts'
import { Moment } from './moment.ts'
import type { SessionRegistry } from './session-registry.ts'
import { type Due, TICK_MS, TimerWheel } from './timer-wheel.ts'

interface LongPollsParts {
  readonly cache: FlagSetCache
  readonly evaluator: Evaluator
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly scheduler: EvaluationScheduler
  readonly clock: Clock
}

/** A poll that has arrived. */
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

/** A poll as it is kept while it waits: without the body, and with the context as text. */
interface Arrival {
  readonly scope: EnvironmentScope
  readonly held: HeldContext
  /** The tag of the answer that the caller has, if it is one; undefined: wait for the next change. */
  readonly since: EntityTag | 'unknown' | undefined
  readonly parked: ParkedPoll
}

/** Whose values are to be answered, as they are when. */
interface Question {
  readonly audience: Audience
  readonly moment: Moment
  /** The context of the audience, if it was parsed just now. */
  readonly context: EvaluationContext | undefined
}

/** What is given back when a request is held no longer. */
interface Held {
  readonly parked: ParkedPoll
  readonly session: FlagSession
  readonly tick: number
  readonly reservation: Reservation
}

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
   * when the caller has gone, or when it gives way to others. Throws `UNAVAILABLE` when the caller
   * has newer values than this process can get, `PAYLOAD_TOO_LARGE` for a context that is too large
   * to be held, and `RATE_LIMITED` when there is no room.
   */
  wait({ scope, context, since, exchange, headers }: Poll): Waited | Promise<Waited> {
    const arrival = {
      scope,
      held: toHeldContext(context),
      since: since === undefined ? undefined : (asEntityTag(since) ?? 'unknown'),
      parked: new ParkedPoll(this, exchange, headers),
    } as const
    const loaded = this.#parts.cache.find(scope.environmentId)
    if (loaded === undefined || isNewer(arrival.since, loaded)) return this.#waitForStore(arrival)
    return this.#begin(arrival, loaded, context)
  }

  /** What waits for the store is held as well. */
  async #waitForStore(arrival: Arrival): Promise<Waited> {
    const { cache, budget, scheduler } = this.#parts
    const { scope, held, since, parked } = arrival
    const reservation = budget.reserve(scope, held.bytes, parked)
    parked.reserve(reservation)
    try {
      const loaded = await cache.get(scope.environmentId)
      if (isNewer(since, loaded)) await cache.refresh(scope.environmentId, since.version)
      if (parked.isSettled) throw gaveWay()
      return await scheduler.run(scope, held.bytes, () => this.#begin(arrival, loaded))
    } finally {
      if (!parked.isHeld) budget.release(reservation)
    }
  }

  /** Nothing is awaited here until the session is registered, so that it misses no change. */
  #begin(arrival: Arrival, loaded: FlagSet, context?: EvaluationContext): Waited {
    const { cache, sessions, clock } = this.#parts
    const { scope, held, since } = arrival
    const moment = Moment.of(cache.find(scope.environmentId) ?? loaded, clock.now())
    const audience = sessions.audienceOf(scope.environmentId, held.text)
    const question = { audience, moment, context }
    if (since === undefined || this.#isUpToDate(since, question)) {
      return this.#hold(arrival, audience, moment)
    }
    return this.#answerTo(question)
  }

  /** Whether the caller has what this process would answer, or something newer. */
  #isUpToDate(since: EntityTag | 'unknown', question: Question): boolean {
    const { audience, moment } = question
    const { version, instants } = moment.flagSet
    if (since === 'unknown' || since.version > version) return false
    const isOfContext = since.version === version && since.contextHash === audience.contextHash
    if (isOfContext && since.step >= moment.step && since.step <= instants.length) return true
    return since.valuesHash === this.#answerTo(question).tag.valuesHash
  }

  #hold({ scope, held, since, parked }: Arrival, audience: Audience, moment: Moment): Waited {
    const { budget, sessions } = this.#parts
    if (!parked.hasReservation) parked.reserve(budget.reserve(scope, held.bytes, parked))
    const session = new FlagSession({ scope, audience, moment, sink: parked })
    const holdMs = POLL_HOLD_MS + Math.random() * (POLL_SPREAD_MS - TICK_MS)
    const known = typeof since === 'object' ? since.valuesHash : undefined
    parked.park(session, this.#wheel.add(parked, holdMs), known)
    if (!parked.isSettled) sessions.add(session)
    return 'held'
  }

  /** A request is to be held no longer. */
  release({ parked, session, tick, reservation }: Held): void {
    this.#parts.budget.release(reservation)
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

  /** What a session's client would be answered now. A caller that has parsed the context passes it. */
  presentAnswer({ scope, audience, told }: FlagSession, context?: EvaluationContext): PollAnswer {
    const { cache, clock } = this.#parts
    const flagSet = cache.find(scope.environmentId) ?? told.flagSet
    return this.#answerTo({ audience, moment: Moment.of(flagSet, clock.now()), context })
  }

  #answerTo({ audience, moment, context }: Question): PollAnswer {
    const last = this.#last
    if (last?.audience === audience && last.moment === moment) return last.answer
    const { text, contextHash } = audience
    const parsed = context ?? contextOfText(text)
    const made = this.#parts.evaluator.answer(moment.flagSet, parsed, contextHash)
    const answer = { ...made, bytes: encoder.encode(made.json ?? '') }
    this.#last = { audience, moment, answer }
    return answer
  }
}

/** Whether the caller has a newer version than this one. */
function isNewer(since: Arrival['since'], { version }: FlagSet): since is EntityTag {
  return typeof since === 'object' && since.version > version
}

/** A request that is held. There are thousands: it is one object, without closures or promises. */
export class ParkedPoll implements SessionSink, Due, Waiting {
  readonly headers: SdkHeaders
  readonly #polls: LongPolls
  readonly #exchange: Poll['exchange']
  /** The hash of the values that the caller has; undefined: those of its arrival. */
  #known: string | undefined
  #reservation: Reservation | undefined
  #session: FlagSession | undefined
  #tick = 0
  /** Undefined as long as the request is held. */
  #end: PollAnswer | FlagError | 'gone' | undefined

  constructor(polls: LongPolls, exchange: Poll['exchange'], headers: SdkHeaders) {
    this.#polls = polls
    this.#exchange = exchange
    this.headers = headers
  }

  get transport(): LiveTransport {
    return 'poll'
  }

  get environmentId(): string {
    return this.#session?.scope.environmentId ?? ''
  }

  /** Whether the request is held, or was. */
  get isHeld(): boolean {
    return this.#session !== undefined
  }

  get hasReservation(): boolean {
    return this.#reservation !== undefined
  }

  /** Sets what is released when the request is held no longer. */
  reserve(reservation: Reservation): void {
    this.#reservation = reservation
  }

  /** Holds the request; it is settled at once if its caller has gone. */
  park(session: FlagSession, tick: number, known: string | undefined): void {
    this.#session = session
    this.#tick = tick
    this.#known = known
    this.#exchange.hold(this)
  }

  /** Whether it is decided how the request ends. */
  get isSettled(): boolean {
    return this.#end !== undefined
  }

  /**
   * What the request is answered, once; undefined: nothing. Throws `UNAUTHENTICATED` when its key
   * was revoked, and `RATE_LIMITED` when it gives way to others.
   */
  takeAnswer(): PollAnswer | undefined {
    const end = this.#end
    // What is old and forgotten would keep the answer, which is new, until all garbage is collected.
    this.#end = 'gone'
    if (isFlagError(end)) throw end
    return end === 'gone' ? undefined : end
  }

  deliver({ evaluated }: FlagUpdate): boolean {
    if (this.#session === undefined) return true
    const answer = this.#polls.presentAnswer(this.#session, evaluated.context)
    if (answer.tag.valuesHash !== this.#known) this.#settle(answer)
    return true
  }

  end(reason: EndReason): void {
    if (reason === 'goingAway') this.fallDue()
    else this.#settle(reason === 'gaveWay' ? gaveWay() : keyRefused())
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
    if (this.#end !== undefined) return
    this.#end = end
    const [session, tick, reservation] = [this.#session, this.#tick, this.#reservation]
    if (session === undefined || reservation === undefined) return
    this.#polls.release({ parked: this, session, tick, reservation })
  }
}
