import { FlagError } from '@ff/core'
import {
  CLOSE_CODES,
  type ClientMessage,
  INIT_WITHIN_MS,
  type ServerMessage,
} from '@ff/protocol/sdk'
import type { ConnectionThrottle } from '../access/connection-throttle.ts'
import { tooManyRequests } from '../access/rate-limit.ts'
import { keyRefused, type SdkKeyVerifier } from '../access/sdk-keys.ts'
import type { Cancel } from '../runtime/clock.ts'
import { MAX_BUFFERED_BYTES, MAX_QUEUED_LENGTH } from '../runtime/memory-bounds.ts'
import { gaveWay } from './client-budget.ts'
import { parseMessage } from './client-message.ts'
import type { Message } from './flag-set-diff.ts'
import { FlagSetSubscription } from './flag-set-subscription.ts'
import type { EndReason } from './live-session.ts'
import type { PendingSocket, PendingSockets } from './pending-sockets.ts'
import type { SocketLike, SocketRefusal } from './socket-like.ts'
import type {
  SocketSubscription,
  SubscribedSocket,
  SubscriptionOptions,
} from './socket-subscription.ts'
import { ValueSubscription } from './value-subscription.ts'

/** The dependencies that all connections of one server share. */
export interface SocketConnectionOptions extends SubscriptionOptions {
  /**
   * Returns a promise that resolves when the server is ready; `undefined` if it is already ready.
   */
  readonly whenReady: () => Promise<void> | undefined
  readonly keys: SdkKeyVerifier
  readonly pending: PendingSockets
  readonly throttle: ConnectionThrottle
  /** Converts an error to the message that the client receives, and counts refusals with 429. */
  readonly toRefusal: (error: unknown) => SocketRefusal
}

/** The close code and reason with which the server has closed a socket. */
export type SocketClosing = Pick<SocketRefusal, 'closeCode' | 'closeReason'>

/** The time after which the socket of a client that does not read is closed. */
const STUCK_AFTER_MS = 10_000

/**
 * The connection of one client. Waits for `init`, verifies its key, starts a subscription and
 * processes later messages. The socket can be of any platform. The binding of the platform calls `receive`
 * for each message, and `closed` when the socket has closed.
 */
export class SocketConnection implements SubscribedSocket, PendingSocket {
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
  /** `true` until the client has sent a valid SDK key. */
  #isAnonymous = true
  /** What the client receives; set after its key was verified. */
  #subscription: SocketSubscription | undefined
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
    this.#subscription?.close()
    this.#subscription = undefined
  }

  /** Closes the socket. For a reason other than `goingAway`, sends an error message first. */
  end(reason: EndReason): void {
    if (reason === 'keyRefused') this.refuse(keyRefused())
    else if (reason === 'gaveWay') this.refuse(gaveWay())
    else if (this.#isOpen) this.#close(CLOSE_CODES.goingAway, 'going away')
  }

  /** `false` after the socket has closed. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Sends an update. Returns `false` if too many bytes wait to be sent to the client, and then
   * resumes the subscription later.
   */
  sendUpdate(message: Message): boolean {
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#waitForDrain()
      return false
    }
    this.#send(message)
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
    const subscription = this.#subscription
    if (subscription === undefined) return this.#begin(message, text.length)
    // A newer client may send message types that this release does not know.
    if (message === 'unknown') return
    switch (message.type) {
      case 'init':
        throw new FlagError(
          'INVALID_REQUEST',
          'Send a message of the type "context" instead of a second init.',
        )
      case 'context':
        return subscription.changeContext(message, text.length)
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
    const { throttle, limiter, keys, pending } = this.#options
    const scope = keys.find(message.sdkKey) ?? (await keys.verify(message.sdkKey))
    if (!this.#isOpen) return
    this.#isAnonymous = false
    pending.remove(this)
    await throttle.admit(scope, limiter)
    if (!this.#isOpen) return
    this.#subscription =
      'flagSet' in message
        ? new FlagSetSubscription(this, this.#options, message)
        : new ValueSubscription(this, this.#options, message)
    await this.#subscription.start(scope, messageLength)
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
    this.#subscription?.resume()
  }

  #close(code: number, reason: string): void {
    if (!this.#isOpen) return
    this.closing = { closeCode: code, closeReason: reason }
    this.closed()
    this.#socket.close(code, reason, this.#isAnonymous)
  }
}
