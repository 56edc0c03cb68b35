import { type EvaluationContext, FlagError, type FlagSet, parseContext } from '@ff/core'
import {
  CLOSE_CODES,
  type ClientMessage,
  INIT_WITHIN_MS,
  type ServerMessage,
} from '@ff/protocol/sdk'
import type { ConnectionThrottle } from '../access/connection-throttle.ts'
import { type RequestLimiter, tooManyRequests } from '../access/rate-limit.ts'
import { type EnvironmentScope, keyRefused, type SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Cancel, Clock } from '../runtime/clock.ts'
import { MAX_BUFFERED_BYTES, MAX_QUEUED_LENGTH } from '../runtime/memory-bounds.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { type ClientBudget, gaveWay, type Reservation } from './client-budget.ts'
import { parseMessage } from './client-message.ts'
import { type EndReason, FlagSession, type SessionSink } from './flag-session.ts'
import { FlagSetState, type FlagUpdate, type Message } from './flag-set-diff.ts'
import { contextOfText, type HeldContext, toHeldContext } from './held-context.ts'
import type { PendingSocket, PendingSockets } from './pending-sockets.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SocketLike, SocketRefusal } from './socket-like.ts'

/** The dependencies that all connections of one server share. */
export interface SocketConnectionOptions {
  /**
   * Returns a promise that resolves when the server is ready; `undefined` if it is already ready.
   */
  readonly whenReady: () => Promise<void> | undefined
  readonly keys: SdkKeyVerifier
  readonly limiter: RequestLimiter
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly scheduler: EvaluationScheduler
  readonly pending: PendingSockets
  readonly throttle: ConnectionThrottle
  readonly usage: UsageRecorder
  readonly clock: Clock
  /** Converts an error to the message that the client receives, and counts refusals with 429. */
  readonly toRefusal: (error: unknown) => SocketRefusal
}

/** The close code and reason with which the server has closed a socket. */
export type SocketClosing = Pick<SocketRefusal, 'closeCode' | 'closeReason'>

/** The time after which the socket of a client that does not read is closed. */
const STUCK_AFTER_MS = 10_000

/**
 * The connection of one client. Waits for `init`, verifies its key, starts a session and processes
 * later messages. The socket can be of any platform. The binding of the platform calls `receive`
 * for each message, and `closed` when the socket has closed.
 */
export class SocketConnection implements SessionSink, PendingSocket {
  readonly transport = 'ws'
  /** The time at which the socket was opened, on the scale of `Clock.monotonicNow`. */
  readonly openedAt: number
  /** The close code and reason that the server has sent; `undefined` if the client has closed. */
  closing: SocketClosing | undefined
  readonly #socket: SocketLike
  readonly #options: SocketConnectionOptions
  #queue: string[] = []
  #queuedLength = 0
  #isProcessing = false
  #isOpen = true
  /** The budget reservation of this client; set after its key was verified. */
  #reservation: Reservation | undefined
  /** The context while the flag set is being loaded. */
  #loadingContext: HeldContext | undefined
  /** `true` until the client has sent a valid SDK key. */
  #isAnonymous = true
  #session: FlagSession | undefined
  #cancelInit: Cancel | undefined
  #cancelStuck: Cancel | undefined

  constructor(socket: SocketLike, options: SocketConnectionOptions) {
    this.#socket = socket
    this.#options = options
    // A small integer needs no separate memory, unlike a fraction.
    this.openedAt = Math.trunc(options.clock.monotonicNow())
    this.#cancelInit = options.clock.schedule(INIT_WITHIN_MS, () => {
      const error = 'No init message arrived in time.'
      this.#sendMessage({ type: 'error', error, statusCode: 408 })
      this.#close(CLOSE_CODES.initTimeout, 'no init in time')
    })
  }

  /**
   * Queues a text message of the client. Messages are processed in order of arrival. A message that
   * is not text is refused.
   */
  receive(text: unknown): void {
    if (!this.#isOpen) return
    if (typeof text !== 'string') {
      this.refuse(new FlagError('INVALID_REQUEST', 'A message must be text, not binary.'))
      return
    }
    if (this.#queuedLength + text.length > MAX_QUEUED_LENGTH) {
      this.refuse(tooManyRequests())
      return
    }
    this.#queue.push(text)
    this.#queuedLength += text.length
    if (!this.#isProcessing) void this.#process()
  }

  /**
   * Sends an error message to the client and closes the socket. Does nothing if the socket is
   * closed.
   */
  refuse(error: unknown): void {
    if (!this.#isOpen) return
    const { message, closeCode, closeReason } = this.#options.toRefusal(error)
    this.#sendMessage(message)
    this.#close(closeCode, closeReason)
  }

  /** Releases the resources of the client. Called when the socket has closed. */
  closed(): void {
    this.#isOpen = false
    this.#options.pending.remove(this)
    this.#queue.length = 0
    this.#queuedLength = 0
    this.#cancelInit?.()
    this.#cancelStuck?.()
    if (this.#reservation !== undefined) this.#options.budget.release(this.#reservation)
    if (this.#session !== undefined) this.#options.sessions.remove(this.#session)
    this.#session = this.#reservation = this.#loadingContext = undefined
  }

  /** Closes the socket. For a reason other than `goingAway`, sends an error message first. */
  end(reason: EndReason): void {
    if (reason === 'keyRefused') this.refuse(keyRefused())
    else if (reason === 'gaveWay') this.refuse(gaveWay())
    else if (this.#isOpen) this.#close(CLOSE_CODES.goingAway, 'going away')
  }

  /** Sends an update. Returns `false` if too many bytes wait to be sent to the client. */
  deliver({ message, full, evaluated }: FlagUpdate): boolean {
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#waitForDrain()
      return false
    }
    this.#send(message)
    if (this.#session !== undefined) {
      const { scope, group } = this.#session
      if (full) this.#options.usage.evaluated(scope, 'ws', evaluated, group.contextHash)
      else this.#options.usage.pushed(scope, evaluated, group)
    }
    return true
  }

  async #process(): Promise<void> {
    this.#isProcessing = true
    try {
      while (this.#queue.length > 0) await this.#processNext()
    } catch (error) {
      this.refuse(error)
    } finally {
      this.#isProcessing = false
      // An emptied array keeps its memory, and most sockets receive only one message.
      this.#queue = []
    }
  }

  /**
   * Processes the first queued message. This is a separate method, so that no variable keeps the
   * text, which may be large, while the result is awaited.
   */
  #processNext(): Promise<void> {
    const text = this.#queue.shift() ?? ''
    this.#queuedLength -= text.length
    return this.#handle(text)
  }

  async #handle(text: string): Promise<void> {
    const message = parseMessage(text)
    const session = this.#session
    if (session === undefined) return this.#begin(message, text.length)
    // A newer client may send message types that this release does not know.
    if (message === 'unknown') return
    switch (message.type) {
      case 'init':
        throw new FlagError(
          'INVALID_REQUEST',
          'Send a message of the type "context" instead of a second init.',
        )
      case 'context':
        return this.#changeContext(session.scope, message.context, text.length)
      case 'ping':
        if (this.#socket.bufferedAmount <= MAX_BUFFERED_BYTES) this.#sendMessage({ type: 'pong' })
    }
  }

  async #begin(message: ClientMessage | 'unknown', messageLength: number): Promise<void> {
    if (message === 'unknown' || message.type !== 'init') {
      throw new FlagError('INVALID_REQUEST', 'The first message must have the type "init".')
    }
    this.#cancelInit?.()
    this.#cancelInit = undefined
    await this.#options.whenReady()
    const { throttle, limiter, keys, pending, scheduler } = this.#options
    const scope = keys.find(message.sdkKey) ?? (await keys.verify(message.sdkKey))
    if (!this.#isOpen) return
    this.#isAnonymous = false
    pending.remove(this)
    await throttle.admit(scope, limiter)
    await scheduler.run(scope, messageLength, () => this.#arrive(scope, message.context))
  }

  #arrive(scope: EnvironmentScope, json: unknown): void | Promise<void> {
    if (!this.#isOpen) return
    const context = parseContext(json)
    const held = toHeldContext(context)
    const { budget, cache } = this.#options
    this.#reservation = budget.reserve(scope, held.bytes, this)
    this.#loadingContext = held
    const loaded = cache.find(scope)
    if (loaded === undefined) return this.#openLater(scope, held)
    this.#open(scope, loaded, context)
  }

  /**
   * Loads the flag set and then starts the session. Until then, only the text of the context stays
   * in memory.
   */
  async #openLater(scope: EnvironmentScope, { bytes }: HeldContext): Promise<void> {
    const { cache, scheduler } = this.#options
    const loaded = await cache.get(scope)
    await scheduler.run(scope, bytes, () => this.#open(scope, loaded))
  }

  /** Starts the session. Must stay synchronous, so that the session misses no change. */
  #open(scope: EnvironmentScope, loaded: FlagSet, parsed?: EvaluationContext): void {
    const { cache, clock, sessions, usage } = this.#options
    const held = this.#loadingContext
    if (held === undefined) return
    this.#loadingContext = undefined
    const state = FlagSetState.of(cache.find(scope) ?? loaded, clock.now())
    const group = sessions.groupOf(scope, held.text)
    const session = new FlagSession({ scope, group, state, sink: this })
    this.#session = session
    sessions.add(session)
    usage.requested(scope)
    session.sendAll(state, parsed ?? contextOfText(held.text))
  }

  /** Changes the context. The message counts as a request, because all flags are evaluated. */
  async #changeContext(scope: EnvironmentScope, json: unknown, length: number): Promise<void> {
    const permit = await this.#options.limiter.take(scope)
    if (!permit.granted) throw tooManyRequests({ seconds: Number(permit.retryAfter) })
    await this.#options.scheduler.run(scope, length, () => this.#move(json))
  }

  #move(json: unknown): void {
    const [session, reservation] = [this.#session, this.#reservation]
    if (session === undefined || reservation === undefined) return
    const { budget, sessions, usage } = this.#options
    const context = parseContext(json)
    const held = toHeldContext(context)
    budget.change(reservation, held.bytes)
    usage.requested(session.scope)
    sessions.move(session, held.text)
    session.sendAll(this.#currentState(session), context)
  }

  #currentState({ scope, lastDelivered }: FlagSession): FlagSetState {
    const { cache, clock } = this.#options
    return FlagSetState.of(cache.find(scope) ?? lastDelivered.flagSet, clock.now())
  }

  #sendMessage(message: ServerMessage): void {
    this.#send({ text: JSON.stringify(message) })
  }

  #send(message: Message): void {
    if (this.#isOpen) this.#socket.send(message)
  }

  #waitForDrain(): void {
    if (this.#cancelStuck !== undefined) return
    this.#cancelStuck = this.#options.clock.schedule(STUCK_AFTER_MS, () => this.#giveUp())
    this.#socket.whenDrained(() => this.#catchUp())
  }

  #giveUp(): void {
    if (this.#socket.bufferedAmount <= MAX_BUFFERED_BYTES) this.#catchUp()
    else this.#close(CLOSE_CODES.tryAgainLater, 'too slow')
  }

  /** Sends a slow client the changes that it has missed. */
  #catchUp(): void {
    this.#cancelStuck?.()
    this.#cancelStuck = undefined
    if (this.#session !== undefined) this.#session.resume(this.#currentState(this.#session))
  }

  #close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.closing = { closeCode: code, closeReason: reason }
    this.closed()
    this.#socket.close(code, reason, this.#isAnonymous)
  }
}
