import type { FlagSet } from '@ff/core'
import type { EnvironmentScope } from '../access/scope.ts'
import type { FlagSetCache } from '../evaluation/flag-set-cache.ts'
import type { Cancel, Clock } from '../runtime/clock.ts'
import { forEachInTimeSlices } from '../runtime/time-slice.ts'
import type { ClientBudget, Reservation } from './client-budget.ts'
import { FlagSetState } from './flag-set-diff.ts'
import { EVENT_STREAM_GROUP } from './held-context.ts'
import type { LiveSession } from './live-session.ts'
import type { SessionRegistry } from './session-registry.ts'
import { positionOf } from './stream-position.ts'

/** The interval of comments, which keep proxies from closing idle connections. */
const COMMENT_EVERY_MS = 25_000

/** The maximum random delay of an event, so that not all clients request their flags at once. */
const SPREAD_MS = 1000

/** The shortest and the longest delay after which a client reconnects. */
const RECONNECT_MS = { min: 1000, max: 4000 } as const

/**
 * A client requests its flags before it opens its stream. A change in between reaches it by an event
 * at the beginning of the stream, if the change is younger than this.
 */
const MISSABLE_MS = 120_000

interface EventStreamsOptions {
  readonly cache: FlagSetCache
  readonly sessions: SessionRegistry
  readonly budget: ClientBudget
  readonly clock: Clock
}

/** The request for an event stream. */
interface StreamRequest {
  readonly scope: EnvironmentScope
  readonly loaded: FlagSet
  /** The position at which an earlier stream of the client has ended; `undefined` for none. */
  readonly lastEventId: string | undefined
}

/** The open event streams, whose clients request their flags again after each event. */
export class EventStreams {
  readonly options: EventStreamsOptions
  readonly #open = new Set<EventStream>()
  #cancelComments: Cancel | undefined

  constructor(options: EventStreamsOptions) {
    this.options = options
  }

  /**
   * Opens a stream. Synchronous, so that the stream misses no change. Throws `RATE_LIMITED` if there
   * is no room.
   */
  open({ scope, loaded, lastEventId }: StreamRequest): EventStream {
    const { cache, sessions, clock } = this.options
    const now = clock.now()
    const state = FlagSetState.of(cache.find(scope) ?? loaded, now)
    const stream = new EventStream(this, scope, state)
    sessions.add(stream)
    this.#open.add(stream)
    this.#cancelComments ??= clock.schedule(COMMENT_EVERY_MS, () => this.#comment())
    const hasMissed =
      lastEventId === undefined ? now - state.now < MISSABLE_MS : lastEventId !== positionOf(state)
    if (hasMissed) stream.notify(0)
    return stream
  }

  /** Removes a stream that has ended. */
  remove(stream: EventStream): void {
    this.#open.delete(stream)
    this.options.sessions.remove(stream)
    if (this.#open.size > 0) return
    this.#cancelComments?.()
    this.#cancelComments = undefined
  }

  #comment(): void {
    this.#cancelComments = this.options.clock.schedule(COMMENT_EVERY_MS, () => this.#comment())
    void forEachInTimeSlices(this.#open, (stream) => stream.comment())
  }
}

/** The event stream of one client, as the chunks of a response. */
export class EventStream implements LiveSession, AsyncIterator<string, undefined> {
  readonly scope: EnvironmentScope
  /** Like the client of a poll, the client requests its values again after each change. */
  readonly transport = 'poll'
  readonly group = EVENT_STREAM_GROUP
  /** A client requests its flags again over any instance, and confirms nothing. */
  readonly hasConfirmed = false
  readonly #streams: EventStreams
  readonly #reservation: Reservation
  /** The newest state, and the state of the last event. */
  #current: FlagSetState
  #sent: FlagSetState
  /** What the client has not received: the first chunk, the last event, and a comment. */
  #first: string
  #event = ''
  #hasComment = false
  #take: ((result: IteratorResult<string, undefined>) => void) | undefined
  #cancelEvent: Cancel | undefined
  #hasEnded = false

  constructor(streams: EventStreams, scope: EnvironmentScope, state: FlagSetState) {
    this.scope = scope
    this.#streams = streams
    this.#current = this.#sent = state
    this.#reservation = streams.options.budget.reserve(scope, 0, this)
    const { min, max } = RECONNECT_MS
    const retryMs = Math.round(min + Math.random() * (max - min))
    // An event without data only sets the position for `Last-Event-ID`.
    this.#first = `retry: ${retryMs}\nid: ${positionOf(state)}\n\n`
  }

  /** The version of the last event. */
  get version(): number {
    return this.#sent.flagSet.version
  }

  /** Returns `true` if the client was notified of all changes up to this version. */
  hasVersion(version: number): boolean {
    return this.version >= version
  }

  /** Notifies the client of a change within the next second. */
  sendChanges(current: FlagSetState): void {
    if (current === this.#current) return
    this.#current = current
    this.notify(Math.random() * SPREAD_MS)
  }

  /** Sends an event after a delay, unless one is due already. */
  notify(delayMs: number): void {
    if (this.#hasEnded) return
    this.#cancelEvent ??= this.#streams.options.clock.schedule(delayMs, () => {
      this.#cancelEvent = undefined
      this.#sent = this.#current
      const position = positionOf(this.#current)
      const data = `{"type":"refetchEvaluation","etag":"${position}"}`
      this.#event = `id: ${position}\ndata: ${data}\n\n`
      this.#flush()
    })
  }

  /** Sends a comment. Ends the stream of a client that has not read the previous comment. */
  comment(): void {
    if (this.#hasComment) this.end()
    this.#hasComment = true
    this.#flush()
  }

  /** Ends the stream. The client reconnects, and is refused if its key was revoked. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#cancelEvent?.()
    this.#streams.options.budget.release(this.#reservation)
    this.#streams.remove(this)
    this.#take?.({ done: true, value: undefined })
    this.#take = undefined
  }

  /** Returns the next chunk when there is one. Must not be called again before it has resolved. */
  next(): Promise<IteratorResult<string, undefined>> {
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#take = resolve
      this.#flush()
    })
  }

  /** Ends the stream, because the client has disconnected. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.end()
    return { done: true, value: undefined }
  }

  #flush(): void {
    const take = this.#take
    const value = this.#first + this.#event + (this.#hasComment ? ':\n\n' : '')
    if (take === undefined || value === '') return
    this.#first = this.#event = ''
    this.#hasComment = false
    this.#take = undefined
    take({ done: false, value })
  }
}
