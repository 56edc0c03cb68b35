import { FlagError } from '@ff/core'
import type { FlagSetInitMessage, FlagSetMessage } from '@ff/protocol/sdk'
import { assertServerKey, type EnvironmentScope } from '../access/scope.ts'
import type { FlagSetAnswer, UpdateText } from '../evaluation/flag-set-updates.ts'
import { getOrInsert } from '../runtime/get-or-insert.ts'
import type { Reservation } from './client-budget.ts'
import { FlagSetState, type Message } from './flag-set-diff.ts'
import { FlagSetSession, type FlagSetSink } from './flag-set-session.ts'
import type { EndReason } from './live-session.ts'
import type {
  SocketSubscription,
  SubscribedSocket,
  SubscriptionOptions,
} from './socket-subscription.ts'

/**
 * The maximum length, in UTF-16 units, of an update in a message. Socket messages are not
 * compressed, so a client fetches longer updates.
 */
const MAX_MESSAGE_LENGTH = 64 * 1024

/** The messages of updates. All clients with the same version receive the same message. */
const messages = new WeakMap<UpdateText, Message>()

/** Sends the changes of the flag set to the client of a socket. */
export class FlagSetSubscription implements SocketSubscription, FlagSetSink {
  readonly transport = 'ws'
  readonly hasConfirmed = false
  readonly #socket: SubscribedSocket
  readonly #options: SubscriptionOptions
  readonly #since: number | undefined
  #reservation: Reservation | undefined
  #session: FlagSetSession | undefined

  constructor(socket: SubscribedSocket, options: SubscriptionOptions, init: FlagSetInitMessage) {
    this.#socket = socket
    this.#options = options
    this.#since = init.flagSet.since
  }

  /**
   * Starts the session of a client with a valid key. The first message is always sent; it has no
   * changes if the client has the newest version. Throws `FORBIDDEN` unless the key is of kind
   * `server`.
   */
  async start(scope: EnvironmentScope): Promise<void> {
    assertServerKey(scope)
    const { budget, updates, sessions, usage, cache, clock } = this.#options
    this.#reservation = budget.reserve(scope, 0, this)
    const answer = await updates.get(scope, this.#since)
    if (!this.#socket.isOpen) return
    const { version } = answer
    const session = new FlagSetSession({ scope, version, sink: this, updates })
    this.#session = session
    sessions.add(session)
    usage.requested(scope)
    this.deliver(version, answer)
    // A newer version may have been published before the session was added.
    const newest = cache.find(scope)
    if (newest !== undefined) session.sendChanges(FlagSetState.of(newest, clock.now()))
  }

  /** Refuses a context, because the client evaluates its contexts itself. */
  changeContext(): Promise<void> {
    const message = 'A client that receives the flag set sends no context.'
    return Promise.reject(new FlagError('INVALID_REQUEST', message))
  }

  /** Sends a slow client the changes that it has missed. */
  resume(): void {
    this.#session?.resume()
  }

  /** Releases the resources of the client. */
  close(): void {
    const { budget, sessions } = this.#options
    if (this.#reservation !== undefined) budget.release(this.#reservation)
    if (this.#session !== undefined) sessions.remove(this.#session)
    this.#session = this.#reservation = undefined
  }

  /** Sends an update. Returns `false` if too many bytes wait to be sent to the client. */
  deliver(version: number, answer: FlagSetAnswer | undefined): boolean {
    return this.#socket.sendUpdate(messageOf(version, answer))
  }

  /** Ends the socket of the client. */
  end(reason: EndReason): void {
    this.#socket.end(reason)
  }
}

function messageOf(version: number, answer: FlagSetAnswer | undefined): Message {
  if (answer === undefined) return notice({ type: 'flagSet', version })
  const { update, isRestored } = answer
  if (isRestored) return notice({ type: 'flagSet', version, restored: true })
  if (update.isWhole || update.text.length > MAX_MESSAGE_LENGTH) {
    return notice({ type: 'flagSet', version })
  }
  return getOrInsert(messages, update, () => {
    return { text: `{"type":"flagSet","version":${version},"update":${update.text}}` }
  })
}

function notice(message: FlagSetMessage): Message {
  return { text: JSON.stringify(message) }
}
