import { type EvaluationContext, type FlagSet, parseContext } from '@ff/core'
import type { ContextMessage, InitMessage } from '@ff/protocol/sdk'
import { tooManyRequests } from '../access/rate-limit.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import type { Reservation } from './client-budget.ts'
import { FlagSession, type FullReply, type SessionSink } from './flag-session.ts'
import { FlagSetState, type FlagUpdate } from './flag-set-diff.ts'
import { contextOfText, type HeldContext, toHeldContext } from './held-context.ts'
import type { EndReason } from './live-session.ts'
import type {
  SocketSubscription,
  SubscribedSocket,
  SubscriptionOptions,
} from './socket-subscription.ts'

/** The first message of the client, while its session has not started. */
interface Arrival extends FullReply {
  readonly since: number
  readonly held: HeldContext
}

/** Sends the values of one context, which can change, to the client of a socket. */
export class ValueSubscription implements SocketSubscription, SessionSink {
  readonly transport = 'ws'
  readonly hasConfirmed = false
  readonly #socket: SubscribedSocket
  readonly #options: SubscriptionOptions
  /** The message `init`, until it is processed. */
  #init: InitMessage | undefined
  /** The arrival while the flag set is being loaded. */
  #arrival: Arrival | undefined
  #reservation: Reservation | undefined
  #session: FlagSession | undefined

  constructor(socket: SubscribedSocket, options: SubscriptionOptions, init: InitMessage) {
    this.#socket = socket
    this.#options = options
    this.#init = init
  }

  /** Starts the session of a client with a valid key. `length` is the length of its message. */
  async start(scope: EnvironmentScope, length: number): Promise<void> {
    await this.#options.scheduler.run(scope, length, () => this.#arrive(scope))
  }

  /** Changes the context. The message counts as a request, because all flags are evaluated. */
  async changeContext(message: ContextMessage, length: number): Promise<void> {
    const session = this.#session
    if (session === undefined) return
    const { limiter, scheduler } = this.#options
    const permit = await limiter.take(session.scope)
    if (!permit.granted) throw tooManyRequests({ seconds: Number(permit.retryAfter) })
    await scheduler.run(session.scope, length, () => this.#move(message))
  }

  /** Sends a slow client the changes that it has missed. */
  resume(): void {
    if (this.#session !== undefined) this.#session.resume(this.#currentState(this.#session))
  }

  /** Releases the resources of the client. */
  close(): void {
    const { budget, sessions } = this.#options
    if (this.#reservation !== undefined) budget.release(this.#reservation)
    if (this.#session !== undefined) sessions.remove(this.#session)
    this.#session = this.#reservation = this.#arrival = this.#init = undefined
  }

  /** Sends an update. Returns `false` if too many bytes wait to be sent to the client. */
  deliver({ message, full, evaluated }: FlagUpdate): boolean {
    if (!this.#socket.sendUpdate(message)) return false
    if (this.#session !== undefined) {
      const { scope, group } = this.#session
      if (full) this.#options.usage.evaluated(scope, 'ws', evaluated, group.contextHash)
      else this.#options.usage.pushed(scope, evaluated)
    }
    return true
  }

  /** Ends the socket of the client. */
  end(reason: EndReason): void {
    this.#socket.end(reason)
  }

  #arrive(scope: EnvironmentScope): void | Promise<void> {
    const init = this.#init
    this.#init = undefined
    if (init === undefined || !this.#socket.isOpen) return
    const context = parseContext(init.context)
    const held = toHeldContext(context)
    const { budget, cache } = this.#options
    this.#reservation = budget.reserve(scope, held.bytes, this)
    this.#arrival = { id: init.id, since: init.since ?? 0, held }
    const loaded = cache.find(scope)
    if (loaded === undefined || loaded.version < this.#arrival.since) return this.#openLater(scope)
    this.#open(scope, loaded, context)
  }

  /**
   * Loads the flag set and then starts the session. Until then, only the text of the context stays
   * in memory.
   */
  async #openLater(scope: EnvironmentScope): Promise<void> {
    const { cache, scheduler } = this.#options
    const loaded = await cache.getAtLeast(scope, this.#arrival?.since ?? 0)
    await scheduler.run(scope, this.#arrival?.held.bytes ?? 0, () => this.#open(scope, loaded))
  }

  /** Starts the session. Must stay synchronous, so that the session misses no change. */
  #open(scope: EnvironmentScope, loaded: FlagSet, parsed?: EvaluationContext): void {
    const { cache, clock, sessions, usage } = this.#options
    const arrival = this.#arrival
    if (arrival === undefined) return
    this.#arrival = undefined
    const { text } = arrival.held
    const flagSet = cache.find(scope) ?? loaded
    const state = FlagSetState.of(flagSet, clock.now())
    const session = new FlagSession({
      ...{ scope, state, sink: this },
      group: sessions.groupOf(scope, text),
    })
    this.#session = session
    sessions.add(session)
    usage.requested(scope)
    const reply = { id: arrival.id, isRestored: arrival.since > flagSet.version }
    session.sendAll(state, reply, parsed ?? contextOfText(text))
  }

  #move({ context: json, id }: ContextMessage): void {
    const [session, reservation] = [this.#session, this.#reservation]
    if (session === undefined || reservation === undefined) return
    const { budget, sessions, usage } = this.#options
    const context = parseContext(json)
    const held = toHeldContext(context)
    budget.change(reservation, held.bytes)
    usage.requested(session.scope)
    sessions.move(session, held.text)
    session.sendAll(this.#currentState(session), { id }, context)
  }

  #currentState({ scope, lastDelivered }: FlagSession): FlagSetState {
    const { cache, clock } = this.#options
    return FlagSetState.of(cache.find(scope) ?? lastDelivered.flagSet, clock.now())
  }
}
