import { endpoints, type ProjectEvent } from '@ff/protocol/management'
import * as z from 'zod'
import type { Api } from '../api/api.ts'
import { EventParser, type Frame } from './event-parser.ts'

/** The connection of a `LiveConnection` to the page. */
export interface LiveOptions {
  readonly api: Api
  readonly projectId: string
  readonly onEvent: (event: ProjectEvent) => void
  /** Called when changes may have been missed: everything must be loaded again. */
  readonly onReload: () => void
  /** Called with `true` after each part of the stream, and with `false` when it has ended. */
  readonly onStream: (isOpen: boolean) => void
}

const OPEN_MS = 10_000
/** The server sends a comment every 20 seconds. */
const SILENCE_MS = 45_000
const FIRST_DELAY_MS = 1000
const LAST_DELAY_MS = 30_000
/** A stream that was open for this time begins again with the first delay. */
const STABLE_MS = 10_000

/**
 * The event stream of one project. It is read with `fetch`, because an `EventSource` hides comments,
 * and without them a stream that a proxy holds back cannot be told from one without changes.
 */
export class LiveConnection {
  readonly #options: LiveOptions
  readonly #end = new AbortController()
  #lastEventId: string | null = null
  #delayMs = FIRST_DELAY_MS
  #isFirst = true

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** Keeps a stream open until `close`. */
  async run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const began = Date.now()
      await this.#readOnce()
      if (this.#end.signal.aborted) return
      this.#options.onStream(false)
      if (Date.now() - began > STABLE_MS) this.#delayMs = FIRST_DELAY_MS
      await this.#wait(this.#delayMs * (0.5 + Math.random() / 2))
      this.#delayMs = Math.min(this.#delayMs * 2, LAST_DELAY_MS)
    }
  }

  /** Ends the stream. */
  close(): void {
    this.#end.abort()
  }

  /** Opens the stream and reads it to its end. Every failure is an end, and is tried again. */
  async #readOnce(): Promise<void> {
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    this.#end.signal.addEventListener('abort', stop)
    let timer = setTimeout(stop, OPEN_MS)
    try {
      const { api, projectId } = this.#options
      const response = await api.openEvents(projectId, this.#lastEventId, attempt.signal)
      if (!response.ok || response.body === null) return
      const parser = new EventParser()
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(timer)
        timer = setTimeout(stop, SILENCE_MS)
        this.#received(parser.add(part.value))
      }
    } catch (error) {
      // A failed read of a stream is a `TypeError` or an abort; anything else is a fault of this code.
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error
    } finally {
      clearTimeout(timer)
      this.#end.signal.removeEventListener('abort', stop)
    }
  }

  #received(frames: readonly Frame[]): void {
    this.#options.onStream(true)
    // Without a position, the server cannot send what was missed since the last stream.
    if (this.#lastEventId === null && !this.#isFirst) this.#options.onReload()
    this.#isFirst = false
    for (const frame of frames) {
      if (frame.id !== null) this.#lastEventId = frame.id
      if (frame.event !== '') this.#deliver(frame)
    }
  }

  #deliver({ event, id, data }: Frame): void {
    const decoded = z.safeDecode(endpoints.streamProjectEvents.response, {
      event,
      id,
      data: jsonOf(data),
    } as never)
    // An event of a newer server that this page does not know can be any change.
    if (!decoded.success || decoded.data.event === 'reload') this.#options.onReload()
    else this.#options.onEvent(decoded.data)
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      const stop = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#end.signal.addEventListener('abort', stop, { once: true })
    })
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
