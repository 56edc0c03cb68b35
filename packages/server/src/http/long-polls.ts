import type { EvaluationContext, FlagSet } from '@ff/core'
import { POLL_HOLD_MS, POLL_SPREAD_MS } from '@ff/protocol/sdk'
import { type EnvironmentScope, keyRefused } from '../access/sdk-keys.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import { type EvaluationAnswer, evaluationAnswer } from '../evaluation/evaluated.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import { type ClientBudget, gaveWay, type Reservation } from '../live/client-budget.ts'
import { type EndReason, FlagSession, type SessionSink } from '../live/flag-session.ts'
import { FlagSetState, type FlagUpdate } from '../live/flag-set-diff.ts'
import {
  contextOfText,
  type HeldContext,
  type SubscriberGroup,
  toHeldContext,
} from '../live/held-context.ts'
import type { SessionRegistry } from '../live/session-registry.ts'
import type { Cancel, Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { sdkErrorReply } from './error-reply.ts'
import type { Reply } from './exchange.ts'
import { evaluationReply, type SdkHeaders, type SdkRequest } from './sdk-reply.ts'

interface LongPollsOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly scheduler: EvaluationScheduler
  readonly usage: UsageRecorder
  readonly clock: Clock
  readonly logger: Logger
}

/** A poll whose body was read. */
export interface PollRequest extends SdkRequest {
  /** Settles the promise of the reply. */
  readonly resolve: (reply: Reply) => void
  readonly context: EvaluationContext
  /** The entity tag of the caller's values; `undefined`: wait for the next change. */
  readonly since: string | undefined
}

/** A poll as it is kept until it can be compared: without the body, and with the context as text. */
interface Arrival extends Omit<PollRequest, 'context' | 'since'> {
  readonly held: HeldContext
  /** The tag of the caller's values, if it is one; `undefined`: wait for the next change. */
  readonly since: EntityTag | 'unknown' | undefined
}

/** What an answer is evaluated from. */
interface AnswerInput {
  readonly group: SubscriberGroup
  readonly state: FlagSetState
  /** The context of the group, if it was parsed just now. */
  readonly context: EvaluationContext | undefined
}

/** An answer that several polls may share; its text is encoded once for all of them. */
interface PollAnswer extends EvaluationAnswer {
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/** How much later than its hold time ends a poll may be answered. */
const CHECK_MS = 50

/** Keeps polls pending until their sessions have changes. */
export class LongPolls {
  readonly options: LongPollsOptions
  /** In the order of arrival. */
  readonly #pending = new Set<PendingPoll>()
  /** Of the one timer for all pending polls. */
  #cancelCheck: Cancel | undefined
  /** The last answer: clients with equal contexts are answered one after the other. */
  #last: (Omit<AnswerInput, 'context'> & { readonly answer: PollAnswer }) | undefined

  constructor(options: LongPollsOptions) {
    this.options = options
  }

  /**
   * Resolves the reply with the values of the context if they differ from those of the caller. If
   * not, the reply is pending until they do, until the hold time is over, until the key is revoked,
   * or until the poll is ended to make room. Throws `UNAVAILABLE` if the caller has newer values
   * than this process can load, `PAYLOAD_TOO_LARGE` if the context is too large to be held, and
   * `RATE_LIMITED` if there is no room.
   */
  wait({ context, since, ...poll }: PollRequest): void | Promise<void> {
    const arrival = {
      ...poll,
      held: toHeldContext(context),
      since: since === undefined ? undefined : (asEntityTag(since) ?? 'unknown'),
    } as const
    const loaded = this.options.cache.find(poll.scope)
    if (loaded === undefined || isNewer(arrival.since, loaded)) return this.#waitForStore(arrival)
    this.#begin(arrival, loaded, context)
  }

  /** A poll that waits for the store is charged to the budget as well. */
  async #waitForStore(arrival: Arrival): Promise<void> {
    const { cache, budget, scheduler } = this.options
    const { scope, held, since } = arrival
    let hasRoom = true
    const end = () => {
      hasRoom = false
    }
    const reservation = budget.reserve(scope, held.bytes, { end })
    try {
      const loaded = await cache.get(scope)
      if (isNewer(since, loaded)) await cache.refresh(scope.environmentId, since.version)
      await scheduler.run(scope, held.bytes, () => {
        if (!hasRoom) throw gaveWay()
        budget.release(reservation)
        this.#begin(arrival, loaded)
      })
    } finally {
      budget.release(reservation)
    }
  }

  /** Awaits nothing before the session is registered, so that it misses no change. */
  #begin(arrival: Arrival, loaded: FlagSet, context?: EvaluationContext): void {
    const { cache, sessions, clock } = this.options
    const { scope, held, since, exchange, headers, resolve } = arrival
    const state = FlagSetState.of(cache.find(scope) ?? loaded, clock.now())
    const group = sessions.groupOf(scope, held.text)
    const input = { group, state, context }
    if (since === undefined || this.#isUpToDate(since, input)) {
      const poll = new PendingPoll(this, arrival, input)
      exchange.onClosed(poll.cancel.bind(poll))
    } else resolve(this.toReply(this.#answerTo(input), scope, headers))
  }

  /** Answers a poll when its hold time is over, unless it is removed before. */
  add(poll: PendingPoll): void {
    this.#pending.add(poll)
    if (this.#cancelCheck === undefined) this.#checkIn(POLL_HOLD_MS)
  }

  remove(poll: PendingPoll): void {
    this.#pending.delete(poll)
    if (this.#pending.size > 0) return
    this.#cancelCheck?.()
    this.#cancelCheck = undefined
  }

  #checkIn(delayMs: number): void {
    this.#cancelCheck = this.options.clock.schedule(delayMs, () => this.#answerDue())
  }

  /** Answers the polls whose hold time is over, in time slices. */
  #answerDue(): void {
    const now = this.options.clock.monotonicNow()
    const due: PendingPoll[] = []
    for (const poll of this.#pending) {
      if (poll.dueAt <= now) due.push(poll)
      // The hold times of later polls may be shorter, but not by more.
      else if (poll.dueAt > now + POLL_SPREAD_MS) break
    }
    for (const poll of due) this.#pending.delete(poll)
    const [oldest] = this.#pending
    this.#cancelCheck = undefined
    if (oldest !== undefined) this.#checkIn(Math.max(CHECK_MS, oldest.dueAt - POLL_SPREAD_MS - now))
    void forEachInTimeSlices(due, (poll) => poll.answerNow())
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

  /** Returns the current answer to a session's client. A caller that has parsed the context passes it. */
  currentAnswer(session: FlagSession, context?: EvaluationContext): PollAnswer {
    const { cache, clock } = this.options
    const { scope, group, lastDelivered } = session
    const flagSet = cache.find(scope) ?? lastDelivered.flagSet
    return this.#answerTo({ group, state: FlagSetState.of(flagSet, clock.now()), context })
  }

  /** Records an answer and returns its reply. */
  toReply(answer: PollAnswer, scope: EnvironmentScope, headers: SdkHeaders): Reply {
    this.options.usage.answered(scope, 'poll', answer)
    let bytes: Uint8Array | null = answer.bytes
    return {
      ...evaluationReply(answer, headers),
      // The promise of the reply is old for the garbage collector: after a reply, it would keep the
      // bytes until a full collection.
      get body() {
        const body = bytes
        bytes = null
        return body
      },
    }
  }

  #answerTo({ group, state, context }: AnswerInput): PollAnswer {
    const last = this.#last
    if (last?.group === group && last.state === state) return last.answer
    const { text, contextHash } = group
    const now = this.options.clock.now()
    const input = { context: context ?? contextOfText(text), contextHash, now }
    const evaluated = evaluationAnswer(state.flagSet, input)
    const answer = { ...evaluated, bytes: encoder.encode(evaluated.json ?? '') }
    this.#last = { group, state, answer }
    return answer
  }
}

/** The reply to a caller that has gone; it is counted, but not sent. */
const GONE: Reply = { status: 204, headers: {}, body: null }

/** A request that waits for a change. There are thousands: it is one object, without closures. */
class PendingPoll implements SessionSink {
  /** When the hold time is over, as `Clock.monotonicNow` has it. */
  readonly dueAt: number
  readonly #polls: LongPolls
  readonly #headers: SdkHeaders
  readonly #resolve: PollRequest['resolve']
  /** The hash of the values that the caller has; `undefined`: those of its arrival. */
  readonly #knownHash: string | undefined
  readonly #reservation: Reservation
  readonly #session: FlagSession
  #isSettled = false

  /** Throws `RATE_LIMITED` if there is no room. */
  constructor(polls: LongPolls, arrival: Arrival, { group, state }: AnswerInput) {
    const { scope, held, since, headers, resolve } = arrival
    this.#polls = polls
    this.#headers = headers
    this.#resolve = resolve
    this.#knownHash = typeof since === 'object' ? since.valuesHash : undefined
    this.#reservation = polls.options.budget.reserve(scope, held.bytes, this)
    this.#session = new FlagSession({ scope, group, state, sink: this })
    const holdMs = POLL_HOLD_MS + Math.random() * (POLL_SPREAD_MS - CHECK_MS)
    // A small integer takes no memory of its own.
    this.dueAt = Math.trunc(polls.options.clock.monotonicNow() + holdMs)
    polls.add(this)
    polls.options.sessions.add(this.#session)
  }

  get transport() {
    return 'poll' as const
  }

  deliver({ evaluated }: FlagUpdate): boolean {
    const answer = this.#polls.currentAnswer(this.#session, evaluated.context)
    if (answer.tag.valuesHash !== this.#knownHash) this.#answer(answer)
    return true
  }

  end(reason: EndReason): void {
    if (reason === 'goingAway') this.answerNow()
    else {
      const error = reason === 'gaveWay' ? gaveWay() : keyRefused()
      this.#settle(sdkErrorReply(error, this.#headers, this.#polls.options.logger))
    }
  }

  /** Answers with the present values; does nothing after the reply. */
  answerNow(): void {
    this.#answer(this.#polls.currentAnswer(this.#session))
  }

  /** Ends the poll without an answer: the caller has gone. Does nothing after the reply. */
  cancel(): void {
    this.#settle(GONE)
  }

  #answer(answer: PollAnswer): void {
    if (this.#isSettled) return
    this.#settle(this.#polls.toReply(answer, this.#session.scope, this.#headers))
  }

  #settle(reply: Reply): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const { budget, sessions } = this.#polls.options
    budget.release(this.#reservation)
    sessions.remove(this.#session)
    this.#polls.remove(this)
    this.#resolve(reply)
  }
}

/** Whether the caller has a newer version than this one. */
function isNewer(since: Arrival['since'], { version }: FlagSet): since is EntityTag {
  return typeof since === 'object' && since.version > version
}
