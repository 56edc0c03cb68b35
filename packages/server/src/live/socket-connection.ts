import { type EvaluationContext, FlagError, type FlagSet, parseContext } from '@ff/core'
import {
  CLOSE_CODES,
  type ClientMessage,
  INIT_WITHIN_MS,
  MAX_MESSAGE_BYTES,
  type ServerMessage,
} from '@ff/protocol/sdk'
import { type RequestLimiter, tooManyRequests } from '../access/rate-limit.ts'
import { type EnvironmentScope, keyRefused, type SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { Evaluated } from '../evaluation/evaluated.ts'
import type { EvaluationScheduler } from '../evaluation/evaluation-scheduler.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import { toKnownError } from '../http/error-reply.ts'
import type { Cancel, Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { type ClientBudget, gaveWay, type Reservation } from './client-budget.ts'
import { parseMessage } from './client-message.ts'
import { type EndReason, FlagSession, type SessionSink } from './flag-session.ts'
import type { FlagUpdate, Message } from './flag-update.ts'
import { contextOfText, type HeldContext, toHeldContext } from './held-context.ts'
import { Moment } from './moment.ts'
import type { PendingSocket, PendingSockets } from './pending-sockets.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SocketAdmission } from './socket-admission.ts'
import type { SocketLike } from './socket-like.ts'
import { displaced, socketRefusalOf } from './socket-refusal.ts'

export interface SocketParts {
  /** Resolves once the server can answer; `undefined` when it can already. */
  readonly whenReady: () => Promise<void> | undefined
  readonly keys: SdkKeyVerifier
  readonly limiter: RequestLimiter
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly scheduler: EvaluationScheduler
  readonly pending: PendingSockets
  readonly admission: SocketAdmission
  /** Counts a socket that is refused with status 429. */
  readonly countRefusal: () => void
  readonly usage: UsageRecorder
  readonly clock: Clock
  readonly logger: Logger
}

/** With more than this waiting to leave, a client is told nothing more until it has caught up. */
const MAX_BUFFERED_BYTES = 256 * 1024

/** A client that has not caught up by then is closed. */
const STUCK_AFTER_MS = 10_000

/** How much text may wait for the message that is being worked on, in UTF-16 units. */
const MAX_WAITING_LENGTH = MAX_MESSAGE_BYTES

/**
 * The conversation with one client, over any socket: `init`, its check, a session, and its end.
 * The transport calls `receive` for each text, `refuse` for what is not text, and `closed` once.
 */
export class SocketConnection implements SessionSink, PendingSocket {
  readonly transport = 'ws'
  readonly #socket: SocketLike
  readonly #parts: SocketParts
  #waiting: string[] = []
  #waitingLength = 0
  #isWorking = false
  #isOpen = true
  /** What is charged for the context of this client, from the check of its key on. */
  #reservation: Reservation | undefined
  /** The context, while the flags are loaded. */
  #arriving: HeldContext | undefined
  /** Whether no valid `init` has come. */
  #isAnonymous = true
  #session: FlagSession | undefined
  #cancelInit: Cancel | undefined
  #cancelStuck: Cancel | undefined

  constructor(socket: SocketLike, parts: SocketParts) {
    this.#socket = socket
    this.#parts = parts
    this.#cancelInit = parts.clock.schedule(INIT_WITHIN_MS, () => {
      const error = 'No init message came in time.'
      this.#sendMessage({ type: 'error', error, statusCode: 408 })
      this.#close(CLOSE_CODES.initTimeout, 'no init in time')
    })
  }

  /** A text message of the client; worked on in the order of arrival. */
  receive(text: string): void {
    if (!this.#isOpen) return
    if (this.#waitingLength + text.length > MAX_WAITING_LENGTH) {
      this.refuse(tooManyRequests())
      return
    }
    this.#waiting.push(text)
    this.#waitingLength += text.length
    if (!this.#isWorking) void this.#work()
  }

  /** Tells the client why, and closes. */
  refuse(error: unknown): void {
    if (!this.#isOpen) return
    const known = toKnownError(error, this.#parts.logger)
    const { message, closeCode } = socketRefusalOf(known)
    if (message.statusCode === 429) this.#parts.countRefusal()
    this.#sendMessage(message)
    this.#close(closeCode, known.code)
  }

  displace(): void {
    this.refuse(displaced())
  }

  /** The socket is gone. */
  closed(): void {
    this.#isOpen = false
    this.#parts.pending.remove(this)
    this.#waiting.length = 0
    this.#waitingLength = 0
    this.#cancelInit?.()
    this.#cancelStuck?.()
    if (this.#reservation !== undefined) this.#parts.budget.release(this.#reservation)
    if (this.#session !== undefined) this.#parts.sessions.remove(this.#session)
    this.#session = this.#reservation = this.#arriving = undefined
  }

  /** Ends the conversation on the server's side. */
  end(reason: EndReason): void {
    if (reason === 'keyRefused') this.refuse(keyRefused())
    else if (reason === 'gaveWay') this.refuse(gaveWay())
    else if (this.#isOpen) this.#close(CLOSE_CODES.goingAway, 'going away')
  }

  deliver({ message, full, evaluated }: FlagUpdate): boolean {
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#waitForDrain()
      return false
    }
    this.#send(message)
    this.#record(evaluated, full)
    return true
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      while (this.#waiting.length > 0) await this.#answerNext()
    } catch (error) {
      this.refuse(error)
    } finally {
      this.#isWorking = false
      // An array that was in use keeps its room, and most sockets say but one thing.
      this.#waiting = []
    }
  }

  /** No variable keeps the text, which is large, while what it asks for is waited for. */
  #answerNext(): Promise<void> {
    const text = this.#waiting.shift() ?? ''
    this.#waitingLength -= text.length
    return this.#answer(text)
  }

  async #answer(text: string): Promise<void> {
    const message = parseMessage(text)
    if (this.#session === undefined) return this.#begin(message, text.length)
    // A newer client may say more than this release understands.
    if (message === 'unknown') return
    switch (message.type) {
      case 'init':
        throw new FlagError('INVALID_REQUEST', 'init may be sent only once.')
      case 'context':
        return this.#changeContext(message.context, text.length)
      case 'ping':
        if (this.#socket.bufferedAmount <= MAX_BUFFERED_BYTES) this.#sendMessage({ type: 'pong' })
    }
  }

  async #begin(message: ClientMessage | 'unknown', messageLength: number): Promise<void> {
    if (message === 'unknown' || message.type !== 'init') {
      throw new FlagError('INVALID_REQUEST', 'The first message must be an init message.')
    }
    this.#cancelInit?.()
    this.#cancelInit = undefined
    await this.#parts.whenReady()
    const { admission, keys, pending, scheduler } = this.#parts
    const scope = keys.find(message.sdkKey) ?? (await keys.verify(message.sdkKey))
    if (!this.#isOpen) return
    this.#isAnonymous = false
    pending.remove(this)
    await admission.admit(scope)
    await scheduler.run(scope, messageLength, () => this.#arrive(scope, message.context))
  }

  #arrive(scope: EnvironmentScope, json: unknown): void | Promise<void> {
    if (!this.#isOpen) return
    const context = parseContext(json)
    const held = toHeldContext(context)
    const { budget, cache } = this.#parts
    this.#reservation = budget.reserve(scope, held.bytes, this)
    this.#arriving = held
    const loaded = cache.find(scope)
    if (loaded === undefined) return this.#openLater(scope, held)
    this.#open(scope, loaded, context)
  }

  /** Of the message nothing but the text of its context is kept meanwhile. */
  async #openLater(scope: EnvironmentScope, { bytes }: HeldContext): Promise<void> {
    const { cache, scheduler } = this.#parts
    const loaded = await cache.get(scope)
    await scheduler.run(scope, bytes, () => this.#open(scope, loaded))
  }

  /** Nothing is awaited here, so that the session misses no change. */
  #open(scope: EnvironmentScope, loaded: FlagSet, parsed?: EvaluationContext): void {
    const { cache, clock, sessions, usage } = this.#parts
    const held = this.#arriving
    if (held === undefined) return
    this.#arriving = undefined
    const moment = Moment.of(cache.find(scope) ?? loaded, clock.now())
    const audience = sessions.audienceOf(scope, held.text)
    const session = new FlagSession({ scope, audience, moment, sink: this })
    this.#session = session
    sessions.add(session)
    usage.requested(scope)
    session.announce(moment, parsed ?? contextOfText(held.text))
  }

  async #changeContext(json: unknown, messageLength: number): Promise<void> {
    if (this.#session === undefined) return
    const { scope } = this.#session
    await this.#count(scope)
    await this.#parts.scheduler.run(scope, messageLength, () => this.#move(json))
  }

  #move(json: unknown): void {
    const [session, reservation] = [this.#session, this.#reservation]
    if (session === undefined || reservation === undefined) return
    const { budget, sessions, usage } = this.#parts
    const context = parseContext(json)
    const held = toHeldContext(context)
    budget.change(reservation, held.bytes)
    usage.requested(session.scope)
    sessions.move(session, held.text)
    session.announce(this.#present(session), context)
  }

  #present({ scope, told }: FlagSession): Moment {
    const { cache, clock } = this.#parts
    return Moment.of(cache.find(scope) ?? told.flagSet, clock.now())
  }

  /** What makes the server evaluate everything counts as a request. */
  async #count(scope: EnvironmentScope): Promise<void> {
    const permit = await this.#parts.limiter.take(scope)
    if (!permit.granted) throw tooManyRequests({ seconds: Number(permit.retryAfter) })
  }

  /** A client that was told everything before is told of changes. */
  #record(evaluated: Evaluated, full: boolean): void {
    const { usage } = this.#parts
    if (this.#session === undefined) return
    const { scope, audience } = this.#session
    if (full) usage.evaluated(scope, 'ws', evaluated, audience.contextHash)
    else usage.pushed(scope, evaluated, audience)
  }

  #sendMessage(message: ServerMessage): void {
    this.#send({ text: JSON.stringify(message) })
  }

  #send(message: Message): void {
    if (this.#isOpen) this.#socket.send(message)
  }

  #waitForDrain(): void {
    if (this.#cancelStuck !== undefined) return
    this.#cancelStuck = this.#parts.clock.schedule(STUCK_AFTER_MS, () => this.#giveUp())
    this.#socket.whenDrained(() => this.#catchUp())
  }

  #giveUp(): void {
    if (this.#socket.bufferedAmount <= MAX_BUFFERED_BYTES) this.#catchUp()
    else this.#close(CLOSE_CODES.tryAgainLater, 'too slow')
  }

  /** A client that was too slow hears what it missed. */
  #catchUp(): void {
    this.#cancelStuck?.()
    this.#cancelStuck = undefined
    if (this.#session !== undefined) this.#session.resume(this.#present(this.#session))
  }

  #close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.closed()
    this.#socket.close(code, reason, this.#isAnonymous)
  }
}
