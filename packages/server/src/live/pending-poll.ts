import { type EvaluationContext, type FlagError, isFlagError } from '@ff/core'
import { type FlagSetScope, keyRefused } from '../access/sdk-keys.ts'
import type { EvaluationAnswer } from '../evaluation/evaluation-answer.ts'
import { gaveWay, type Reservation } from './client-budget.ts'
import type { EndReason, FlagSession, LiveTransport, SessionSink } from './flag-session.ts'
import type { FlagUpdate } from './flag-update.ts'
import type { Due } from './timer-wheel.ts'

/** The exchange of a poll. */
export interface PollExchange {
  /** Keeps the request pending; calls `cancel` if the caller goes away. */
  hold(pending: { cancel(): void }): void
  /** Has the request handled again. */
  resume(): void
}

/** The headers of a reply, as far as they are known when the request arrives. */
export type PollHeaders = Record<string, string | undefined>

/** An answer that several polls may share; its text is encoded once for all of them. */
export interface PollAnswer extends EvaluationAnswer {
  readonly bytes: Uint8Array
}

/** What a pending poll occupies. */
export interface PollResources {
  readonly poll: PendingPoll
  readonly session: FlagSession
  readonly tick: number
  readonly reservation: Reservation
}

/** The part of `LongPolls` that a pending poll uses. */
export interface PollOwner {
  /** Returns the current answer to a session's client. A caller that has parsed the context passes it. */
  currentAnswer(session: FlagSession, context?: EvaluationContext): PollAnswer
  /** Frees what a settled poll has occupied. */
  release(resources: PollResources): void
}

const NO_SCOPE: FlagSetScope = { environmentId: '', kind: 'client' }

/** A request that waits for a change. There are thousands: it is one object, without closures or promises. */
export class PendingPoll implements SessionSink, Due {
  readonly headers: PollHeaders
  readonly #owner: PollOwner
  readonly #exchange: PollExchange
  /** The hash of the values that the caller has; `undefined`: those of its arrival. */
  #knownHash: string | undefined
  #reservation: Reservation | undefined
  #session: FlagSession | undefined
  #tick = 0
  /** `undefined` while the request is pending. */
  #end: PollAnswer | FlagError | 'gone' | undefined

  constructor(owner: PollOwner, exchange: PollExchange, headers: PollHeaders) {
    this.#owner = owner
    this.#exchange = exchange
    this.headers = headers
  }

  get transport(): LiveTransport {
    return 'poll'
  }

  get scope(): FlagSetScope {
    return this.#session?.scope ?? NO_SCOPE
  }

  /** Whether the request is pending, or was. */
  get hasSession(): boolean {
    return this.#session !== undefined
  }

  get hasReservation(): boolean {
    return this.#reservation !== undefined
  }

  /** Sets what is released when the poll settles. */
  reserve(reservation: Reservation): void {
    this.#reservation = reservation
  }

  /** Makes the request pending; it settles at once if the caller has gone. */
  hold(session: FlagSession, tick: number, knownHash: string | undefined): void {
    this.#session = session
    this.#tick = tick
    this.#knownHash = knownHash
    this.#exchange.hold(this)
  }

  /** Whether it is decided how the request ends. */
  get isSettled(): boolean {
    return this.#end !== undefined
  }

  /**
   * Returns the answer, once; `undefined` if the caller has gone. Throws `UNAUTHENTICATED` if its
   * key was revoked, and `RATE_LIMITED` if the poll was ended to make room for other clients.
   */
  takeAnswer(): PollAnswer | undefined {
    const end = this.#end
    // A poll is old for the garbage collector and would keep the new answer until a full collection.
    this.#end = 'gone'
    if (isFlagError(end)) throw end
    return end === 'gone' ? undefined : end
  }

  deliver({ evaluated }: FlagUpdate): boolean {
    if (this.#session === undefined) return true
    const answer = this.#owner.currentAnswer(this.#session, evaluated.context)
    if (answer.tag.valuesHash !== this.#knownHash) this.#settle(answer)
    return true
  }

  end(reason: EndReason): void {
    if (reason === 'goingAway') this.fallDue()
    else this.#settle(reason === 'gaveWay' ? gaveWay() : keyRefused())
  }

  fallDue(): void {
    if (this.#session !== undefined) this.#settle(this.#owner.currentAnswer(this.#session))
  }

  /** Ends the poll without an answer: the caller has gone. */
  cancel(): void {
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
    this.#owner.release({ poll: this, session, tick, reservation })
  }
}
