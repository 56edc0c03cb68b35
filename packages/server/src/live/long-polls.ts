import type { EvaluationContext, FlagSet } from '@ff/core'
import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { Evaluator } from '../evaluation/evaluator.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { SdkHeaders } from '../http/sdk-headers.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Audience } from './audience.ts'
import { type ClientBudget, gaveWay } from './client-budget.ts'
import { FlagSession } from './flag-session.ts'
import { contextOfText, type HeldContext, toHeldContext } from './held-context.ts'
import { Moment } from './moment.ts'
import {
  type Held,
  type HoldingExchange,
  ParkedPoll,
  type PollAnswer,
  type PollHolder,
} from './parked-poll.ts'
import type { SessionRegistry } from './session-registry.ts'
import { TICK_MS, TimerWheel } from './timer-wheel.ts'

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
  readonly exchange: HoldingExchange
  /** What the answer will say besides its body. */
  readonly headers: SdkHeaders
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

const encoder = new TextEncoder()

/** Holds requests until their sessions have something to say. */
export class LongPolls implements PollHolder {
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
    const loaded = this.#parts.cache.find(scope)
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
      const loaded = await cache.get(scope)
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
    const moment = Moment.of(cache.find(scope) ?? loaded, clock.now())
    const audience = sessions.audienceOf(scope, held.text)
    const question = { audience, moment, context }
    if (since === undefined || this.#isUpToDate(since, question)) {
      return this.#hold(arrival, audience, moment)
    }
    return this.#answerTo(question)
  }

  /** Whether the caller has what this process would answer, or something newer. */
  #isUpToDate(since: EntityTag | 'unknown', question: Question): boolean {
    const { audience, moment } = question
    const { version, timestamps } = moment.flagSet
    if (since === 'unknown' || since.version > version) return false
    const isOfContext = since.version === version && since.contextHash === audience.contextHash
    if (isOfContext && since.step >= moment.step && since.step <= timestamps.length) return true
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
    const flagSet = cache.find(scope) ?? told.flagSet
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
