import { isFlagError } from '@ff/core'
import type { Endpoint } from '@ff/protocol/management'
import type { Cancel, Clock, Reply } from '@ff/server/plane'
import * as z from 'zod'

/** The interval of comments and of checks of the caller's access. */
const COMMENT_EVERY_MS = 20_000
/** The number of comments that a reader can leave unread before its stream is ended. */
const MAX_UNREAD_COMMENTS = 3

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Compressing middleware and proxies would delay events.
  'Cache-Control': 'no-cache, no-store, no-transform',
  'X-Accel-Buffering': 'no',
} as const

/** One event as its codec encodes it. */
interface WireEvent {
  readonly event: string
  readonly id: string | null
  readonly data: unknown
}

interface EventStreamOptions {
  readonly clock: Clock
  /** Throws if the caller has lost its access. `UNAVAILABLE` keeps the stream open. */
  readonly recheck: () => Promise<void>
}

/** The texts of encoded events. All readers of one event receive the same text. */
const texts = new WeakMap<object, string>()

/**
 * Returns a reply with server-sent events, and a comment every 20 seconds. The stream ends with
 * the events, when the caller has lost its access, or when the caller reads nothing for a minute.
 * Calling `return` on the iterator of the body also calls `return` on the iterator of the events.
 */
export function eventsReply(
  { status, response }: Pick<Endpoint, 'status' | 'response'>,
  events: AsyncIterable<unknown>,
  options: EventStreamOptions,
): Reply {
  const stream = new EventStream(response, events, options)
  return { status, headers: HEADERS, body: { [Symbol.asyncIterator]: () => stream } }
}

class EventStream implements AsyncIterator<string, undefined> {
  readonly #codec: z.ZodType
  readonly #events: AsyncIterator<unknown>
  readonly #options: EventStreamOptions
  /** The next event, which was requested and has not arrived. */
  #next: Promise<IteratorResult<unknown>> | undefined
  #comments = 0
  #onComment: () => void = () => undefined
  #cancelComment: Cancel

  constructor(codec: z.ZodType, events: AsyncIterable<unknown>, options: EventStreamOptions) {
    this.#codec = codec
    this.#events = events[Symbol.asyncIterator]()
    this.#options = options
    this.#cancelComment = this.#scheduleComment()
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    const commented = new Promise<void>((resolve) => {
      this.#onComment = resolve
    })
    if (this.#comments === 0) {
      this.#next ??= this.#events.next()
      const result = await Promise.race([this.#next, commented])
      if (result !== undefined) {
        this.#next = undefined
        if (result.done !== true)
          return { done: false, value: this.#textOf(result.value as object) }
        this.#cancelComment()
        return { done: true, value: undefined }
      }
    }
    this.#comments = 0
    return { done: false, value: ':\n\n' }
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.#cancelComment()
    await this.#events.return?.()
    return { done: true, value: undefined }
  }

  #scheduleComment(): Cancel {
    return this.#options.clock.schedule(COMMENT_EVERY_MS, () => void this.#comment())
  }

  async #comment(): Promise<void> {
    this.#cancelComment = this.#scheduleComment()
    this.#comments += 1
    this.#onComment()
    const hasAccess = await this.#options.recheck().then(
      () => true,
      (error: unknown) => isFlagError(error) && error.code === 'UNAVAILABLE',
    )
    if (!hasAccess || this.#comments > MAX_UNREAD_COMMENTS) await this.return()
  }

  #textOf(event: object): string {
    const known = texts.get(event)
    if (known !== undefined) return known
    const text = toText(z.encode(this.#codec, event) as WireEvent)
    texts.set(event, text)
    return text
  }
}

/** Returns the text of an event. A position only sets the id of the last event. */
function toText({ event, id, data }: WireEvent): string {
  const position = id === null ? '' : `id: ${id}\n`
  if (event === 'position') return `${position}\n`
  return `event: ${event}\n${position}data: ${JSON.stringify(data)}\n\n`
}
