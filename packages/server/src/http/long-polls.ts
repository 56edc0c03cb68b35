import type { EvaluationContext, FlagSet } from '@ff/core'
import type { EnvironmentScope } from '../access/scope.ts'
import { keyRefused } from '../access/sdk-keys.ts'
import { asEntityTag, type EntityTag } from '../evaluation/entity-tag.ts'
import { type EvaluationAnswer, evaluationAnswer } from '../evaluation/evaluated.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import { type ClientBudget, gaveWay, type Reservation } from '../live/client-budget.ts'
import { FlagSession, type SessionSink } from '../live/flag-session.ts'
import { FlagSetState, type FlagUpdate } from '../live/flag-set-diff.ts'
import {
  contextOfText,
  type HeldContext,
  type SubscriberGroup,
  toHeldContext,
} from '../live/held-context.ts'
import type { EndReason } from '../live/live-session.ts'
import type { SessionRegistry } from '../live/session-registry.ts'
import type { Clock } from '../runtime/clock.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { sdkErrorReply } from './error-reply.ts'
import { GONE, type Reply } from './exchange.ts'
import type { PendingPoll, PendingPolls } from './pending-polls.ts'
import { evaluationReply, type SdkHeaders, type SdkRequest } from './sdk-reply.ts'

interface LongPollsOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly scheduler: EvaluationScheduler
  readonly usage: UsageRecorder
  readonly clock: Clock
  readonly pending: PendingPolls
}

/** A poll after its body was read and parsed. */
export interface PollRequest extends SdkRequest {
  /** Resolves the promise of the reply. */
  readonly resolve: (reply: Reply) => void
  readonly context: EvaluationContext
  /** The entity tag of the client's values; `undefined` to wait for the next change. */
  readonly since: string | undefined
}

/** A poll that waits for its flag set, without its body and with the context as text. */
interface Arrival extends Omit<PollRequest, 'context' | 'since'> {
  readonly held: HeldContext
  /**
   * The parsed entity tag; `unknown` if it is not valid; `undefined` to wait for the next change.
   */
  readonly since: EntityTag | 'unknown' | undefined
}

/** The inputs of an evaluation. */
interface AnswerInput {
  readonly group: SubscriberGroup
  readonly state: FlagSetState
  /** The parsed context of the group; `undefined` if only its text is available. */
  readonly context: EvaluationContext | undefined
}

/** An evaluation that several polls may share. Its JSON text is encoded once for all of them. */
interface PollAnswer extends EvaluationAnswer {
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/** Keeps polls pending until the values of their contexts change. */
export class LongPolls {
  readonly options: LongPollsOptions
  /**
   * The last result. It is reused, because clients with equal contexts often receive their replies
   * one after another.
   */
  #last: (Omit<AnswerInput, 'context'> & { readonly answer: PollAnswer }) | undefined

  constructor(options: LongPollsOptions) {
    this.options = options
  }

  /**
   * Resolves the reply with the values of the context if they differ from the client's values.
   * Otherwise the reply stays pending until the values differ, the hold time is over, the key is
   * revoked, the server closes, or the poll is ended to make room for other clients. Throws
   * `UNAVAILABLE` if the client has a newer version that this process cannot load,
   * `PAYLOAD_TOO_LARGE` if the context is too large to be kept, and `RATE_LIMITED` if there is no
   * room.
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

  /**
   * Loads the flag set and then begins the poll. The budget is charged for the poll while it waits
   * for the store.
   */
  async #waitForStore(arrival: Arrival): Promise<void> {
    const { cache, budget, scheduler } = this.options
    const { scope, held, since } = arrival
    let hasRoom = true
    const end = () => {
      hasRoom = false
    }
    const reservation = budget.reserve(scope, held.bytes, { end })
    try {
      const version = typeof since === 'object' ? since.version : 0
      const loaded = await cache.getAtLeast(scope, version)
      await scheduler.run(scope, held.bytes, () => {
        if (!hasRoom) throw gaveWay()
        budget.release(reservation)
        this.#begin(arrival, loaded)
      })
    } finally {
      budget.release(reservation)
    }
  }

  /**
   * Replies immediately or registers a session. Synchronous, so that the session misses no change.
   */
  #begin(arrival: Arrival, loaded: FlagSet, context?: EvaluationContext): void {
    const { cache, sessions, clock } = this.options
    const { scope, held, since, exchange, headers, resolve } = arrival
    const state = FlagSetState.of(cache.find(scope) ?? loaded, clock.now())
    const group = sessions.groupOf(scope, held.text)
    const input = { group, state, context }
    if (since === undefined || this.#isUpToDate(since, input)) {
      const poll = new ValuesPoll(this, arrival, input)
      exchange.onClosed(poll.cancel.bind(poll))
    } else {
      if (isNewer(since, state.flagSet)) headers['X-FF-Restored'] = 'true'
      resolve(this.toReply(this.#answerTo(input), scope, headers))
    }
  }

  /**
   * Returns `true` if the client has the values that this process would send, or the values of a
   * later step. Returns `false` if the client's tag is unknown or has a newer version.
   */
  #isUpToDate(since: EntityTag | 'unknown', input: AnswerInput): boolean {
    const { group, state } = input
    const { version, timestamps } = state.flagSet
    if (since === 'unknown' || since.version > version) return false
    const isOfContext = since.version === version && since.contextHash === group.contextHash
    if (isOfContext && since.step >= state.step && since.step <= timestamps.length) return true
    return since.valuesHash === this.#answerTo(input).tag.valuesHash
  }

  /** Returns the current values for a session's client. Pass `context` if it is already parsed. */
  currentAnswer(session: FlagSession, context?: EvaluationContext): PollAnswer {
    const { cache, clock } = this.options
    const { scope, group, lastDelivered } = session
    const flagSet = cache.find(scope) ?? lastDelivered.flagSet
    return this.#answerTo({ group, state: FlagSetState.of(flagSet, clock.now()), context })
  }

  /** Records an evaluation as sent and returns its reply. */
  toReply(answer: PollAnswer, scope: EnvironmentScope, headers: SdkHeaders): Reply {
    this.options.usage.answered(scope, 'poll', answer)
    let bytes: Uint8Array | null = answer.bytes
    return {
      ...evaluationReply(answer, headers),
      // The promise of the reply is in the old generation of the garbage collector. Without this
      // getter, the bytes would stay in memory until a full collection.
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

/** A request that waits for a change. It has no closures, because thousands may exist. */
class ValuesPoll implements SessionSink, PendingPoll {
  readonly dueAt: number
  readonly #polls: LongPolls
  readonly #headers: SdkHeaders
  readonly #resolve: PollRequest['resolve']
  /** The hash of the client's values; `undefined` if the client waits for any change. */
  readonly #knownHash: string | undefined
  readonly #reservation: Reservation
  readonly #session: FlagSession
  #isSettled = false

  /** Registers the poll and its session. Throws `RATE_LIMITED` if there is no room. */
  constructor(polls: LongPolls, arrival: Arrival, { group, state }: AnswerInput) {
    const { scope, held, since, headers, resolve } = arrival
    this.#polls = polls
    this.#headers = headers
    this.#resolve = resolve
    this.#knownHash = typeof since === 'object' ? since.valuesHash : undefined
    this.#reservation = polls.options.budget.reserve(scope, held.bytes, this)
    this.#session = new FlagSession({ scope, group, state, sink: this })
    this.dueAt = polls.options.pending.nextDueAt()
    polls.options.pending.add(this)
    polls.options.sessions.add(this.#session)
  }

  get transport() {
    return 'poll' as const
  }

  get hasConfirmed(): boolean {
    return this.#knownHash !== undefined
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
      this.#settle(sdkErrorReply(error, this.#headers))
    }
  }

  /** Replies with the current values. Does nothing if the poll has ended. */
  answerNow(): void {
    this.#answer(this.#polls.currentAnswer(this.#session))
  }

  /** Ends the poll of a client that has disconnected. Does nothing if the poll has ended. */
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
    const { budget, sessions, pending } = this.#polls.options
    budget.release(this.#reservation)
    sessions.remove(this.#session)
    pending.remove(this)
    this.#resolve(reply)
  }
}

/** Returns `true` if the client has a newer version than this flag set. */
function isNewer(since: Arrival['since'], { version }: FlagSet): since is EntityTag {
  return typeof since === 'object' && since.version > version
}
