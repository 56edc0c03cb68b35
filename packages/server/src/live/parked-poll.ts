import { type EvaluationContext, type FlagError, isFlagError } from '@ff/core'
import { type FlagSetScope, keyRefused } from '../access/sdk-keys.ts'
import type { Answer } from '../evaluation/evaluator.ts'
import type { Exchange, Waiting } from '../http/exchange.ts'
import type { SdkHeaders } from '../http/sdk-headers.ts'
import { gaveWay, type Reservation } from './client-budget.ts'
import type { EndReason, FlagSession, LiveTransport, SessionSink } from './flag-session.ts'
import type { FlagUpdate } from './flag-update.ts'
import type { Due } from './timer-wheel.ts'

export type HoldingExchange = Pick<Exchange, 'hold' | 'resume'>

/** An answer that many may be given; its text is encoded once for all of them. */
export interface PollAnswer extends Answer {
  readonly bytes: Uint8Array
}

/** What is given back when a request is held no longer. */
export interface Held {
  readonly parked: ParkedPoll
  readonly session: FlagSession
  readonly tick: number
  readonly reservation: Reservation
}

/** What holds polls, as far as one of them needs it. */
export interface PollHolder {
  /** The answer to a session's client at this moment; a caller that has parsed the context passes it. */
  presentAnswer(session: FlagSession, context?: EvaluationContext): PollAnswer
  /** Releases what a poll has held. */
  release(held: Held): void
}

const NO_SCOPE: FlagSetScope = { environmentId: '', kind: 'client' }

/** A request that is held. There are thousands: it is one object, without closures or promises. */
export class ParkedPoll implements SessionSink, Due, Waiting {
  readonly headers: SdkHeaders
  readonly #polls: PollHolder
  readonly #exchange: HoldingExchange
  /** The hash of the values that the caller has; undefined: those of its arrival. */
  #known: string | undefined
  #reservation: Reservation | undefined
  #session: FlagSession | undefined
  #tick = 0
  /** Undefined as long as the request is held. */
  #end: PollAnswer | FlagError | 'gone' | undefined

  constructor(polls: PollHolder, exchange: HoldingExchange, headers: SdkHeaders) {
    this.#polls = polls
    this.#exchange = exchange
    this.headers = headers
  }

  get transport(): LiveTransport {
    return 'poll'
  }

  get scope(): FlagSetScope {
    return this.#session?.scope ?? NO_SCOPE
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
