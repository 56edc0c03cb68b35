import type { EvaluationContext, FlagSet } from '@ff/core'
import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import { evaluationAnswer } from '../evaluation/evaluation-answer.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Clock } from '../runtime/clock.ts'
import { type ClientBudget, gaveWay } from './client-budget.ts'
import { FlagSession } from './flag-session.ts'
import { FlagSetState } from './flag-set-state.ts'
import { contextOfText, type HeldContext, toHeldContext } from './held-context.ts'
import {
  PendingPoll,
  type PollAnswer,
  type PollExchange,
  type PollHeaders,
  type PollOwner,
  type PollResources,
} from './pending-poll.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SubscriberGroup } from './subscriber-group.ts'
import { TICK_MS, TimerWheel } from './timer-wheel.ts'

interface LongPollsOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly scheduler: EvaluationScheduler
  readonly clock: Clock
}

/** A poll that has arrived. */
interface PollRequest {
  readonly scope: EnvironmentScope
  readonly context: EvaluationContext
  /** The entity tag of the caller's values; `undefined`: wait for the next change. */
  readonly since: string | undefined
  readonly exchange: PollExchange
  readonly headers: PollHeaders
}

/** The answer, or `pending` if there is none yet. */
type PollResult = PollAnswer | 'pending'

/** A poll as it is kept until it can be compared: without the body, and with the context as text. */
interface Arrival {
  readonly scope: EnvironmentScope
  readonly held: HeldContext
  /** The tag of the caller's values, if it is one; `undefined`: wait for the next change. */
  readonly since: EntityTag | 'unknown' | undefined
  readonly poll: PendingPoll
}

/** What an answer is evaluated from. */
interface AnswerInput {
  readonly group: SubscriberGroup
  readonly state: FlagSetState
  /** The context of the group, if it was parsed just now. */
  readonly context: EvaluationContext | undefined
}

const encoder = new TextEncoder()

/** Keeps polls pending until their sessions have changes. */
export class LongPolls implements PollOwner {
  readonly #options: LongPollsOptions
  readonly #wheel: TimerWheel
  /** The last answer: clients with equal contexts are answered one after the other. */
  #last:
    | { readonly group: SubscriberGroup; readonly state: FlagSetState; readonly answer: PollAnswer }
    | undefined
  #settled: PendingPoll[] = []

  constructor(options: LongPollsOptions) {
    this.#options = options
    this.#wheel = new TimerWheel(options.clock)
  }

  /**
   * Returns the values of the context if they differ from those of the caller. If not, holds the
   * exchange for a `PendingPoll`, and resumes it when they do, after the hold time, when the key is
   * revoked, or when the poll is ended to make room. Throws `UNAVAILABLE` if the caller has newer
   * values than this process can load, `PAYLOAD_TOO_LARGE` if the context is too large to be held,
   * and `RATE_LIMITED` if there is no room.
   */
  wait({
    scope,
    context,
    since,
    exchange,
    headers,
  }: PollRequest): PollResult | Promise<PollResult> {
    const arrival = {
      scope,
      held: toHeldContext(context),
      since: since === undefined ? undefined : (asEntityTag(since) ?? 'unknown'),
      poll: new PendingPoll(this, exchange, headers),
    } as const
    const loaded = this.#options.cache.find(scope)
    if (loaded === undefined || isNewer(arrival.since, loaded)) return this.#waitForStore(arrival)
    return this.#begin(arrival, loaded, context)
  }

  /** A poll that waits for the store is charged to the budget as well. */
  async #waitForStore(arrival: Arrival): Promise<PollResult> {
    const { cache, budget, scheduler } = this.#options
    const { scope, held, since, poll } = arrival
    const reservation = budget.reserve(scope, held.bytes, poll)
    poll.reserve(reservation)
    try {
      const loaded = await cache.get(scope)
      if (isNewer(since, loaded)) await cache.refresh(scope.environmentId, since.version)
      if (poll.isSettled) throw gaveWay()
      return await scheduler.run(scope, held.bytes, () => this.#begin(arrival, loaded))
    } finally {
      if (!poll.hasSession) budget.release(reservation)
    }
  }

  /** Awaits nothing before the session is registered, so that it misses no change. */
  #begin(arrival: Arrival, loaded: FlagSet, context?: EvaluationContext): PollResult {
    const { cache, sessions, clock } = this.#options
    const { scope, held, since } = arrival
    const state = FlagSetState.of(cache.find(scope) ?? loaded, clock.now())
    const group = sessions.groupOf(scope, held.text)
    const input = { group, state, context }
    if (since === undefined || this.#isUpToDate(since, input)) return this.#hold(arrival, input)
    return this.#answerTo(input)
  }

  /** Whether the caller has the values that this process would answer, or newer ones. */
  #isUpToDate(since: EntityTag | 'unknown', input: AnswerInput): boolean {
    const { group, state } = input
    const { version, timestamps } = state.flagSet
    if (since === 'unknown' || since.version > version) return false
    const isOfContext = since.version === version && since.contextHash === group.contextHash
    if (isOfContext && since.step >= state.step && since.step <= timestamps.length) return true
    return since.valuesHash === this.#answerTo(input).tag.valuesHash
  }

  #hold({ scope, held, since, poll }: Arrival, { group, state }: AnswerInput): PollResult {
    const { budget, sessions } = this.#options
    if (!poll.hasReservation) poll.reserve(budget.reserve(scope, held.bytes, poll))
    const session = new FlagSession({ scope, group, state, sink: poll })
    const holdMs = POLL_HOLD_MS + Math.random() * (POLL_SPREAD_MS - TICK_MS)
    const knownHash = typeof since === 'object' ? since.valuesHash : undefined
    poll.hold(session, this.#wheel.add(poll, holdMs), knownHash)
    if (!poll.isSettled) sessions.add(session)
    return 'pending'
  }

  release({ poll, session, tick, reservation }: PollResources): void {
    this.#options.budget.release(reservation)
    this.#options.sessions.remove(session)
    this.#wheel.cancel(poll, tick)
    // Evaluating for many polls and then writing to them is faster than alternating.
    if (this.#settled.push(poll) === 1) queueMicrotask(() => this.#resumeSettled())
  }

  #resumeSettled(): void {
    const settled = this.#settled
    this.#settled = []
    for (const poll of settled) poll.resume()
  }

  currentAnswer(session: FlagSession, context?: EvaluationContext): PollAnswer {
    const { scope, group, lastDelivered } = session
    const { cache, clock } = this.#options
    const flagSet = cache.find(scope) ?? lastDelivered.flagSet
    return this.#answerTo({ group, state: FlagSetState.of(flagSet, clock.now()), context })
  }

  #answerTo({ group, state, context }: AnswerInput): PollAnswer {
    const last = this.#last
    if (last?.group === group && last.state === state) return last.answer
    const { text, contextHash } = group
    const now = this.#options.clock.now()
    const input = { context: context ?? contextOfText(text), contextHash, now }
    const evaluated = evaluationAnswer(state.flagSet, input)
    const answer = { ...evaluated, bytes: encoder.encode(evaluated.json ?? '') }
    this.#last = { group, state, answer }
    return answer
  }
}

/** Whether the caller has a newer version than this one. */
function isNewer(since: Arrival['since'], { version }: FlagSet): since is EntityTag {
  return typeof since === 'object' && since.version > version
}
