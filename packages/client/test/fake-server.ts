import type { JsonValue } from '@ff/core'
import type { ClientSocket, ClientSocketConstructor, Fetch, FetchResponse } from '../src/index.ts'
import type { FakeTime } from './fake-time.ts'

/** An HTTP response of the script of a test. */
export interface Scripted {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A request or socket that the server has received. */
export interface Attempt {
  readonly at: number
  readonly kind: 'socket' | 'evaluate' | 'poll'
}

type Json = Readonly<Record<string, JsonValue>>

interface Poll {
  readonly contextText: string
  readonly resolve: (response: FetchResponse) => void
}

const LATENCY_MS = 5
/** The maximum time that a poll is pending. */
const HOLD_MS = 60_000

/**
 * A flag server for tests, with the messages and responses of the real one. The value of each flag
 * is the same for all contexts, except `whoami`, which is the key of the context.
 */
export class FakeServer {
  readonly time: FakeTime
  readonly attempts: Attempt[] = []
  readonly sockets = new Set<FakeSocket>()
  readonly polls = new Set<Poll>()
  /** The messages that clients have sent. */
  readonly messages: Json[] = []
  /** The headers and bodies of requests. */
  readonly requests: { readonly headers: Readonly<Record<string, string>>; readonly body: Json }[] =
    []
  state: 'up' | 'down' | 'blackhole' = 'up'
  /** `false` if sockets cannot be opened. */
  hasSockets = true
  /** `true` if sockets are accepted and never open. */
  swallowsSockets = false
  /** `true` if a proxy changes the entity tags of responses. */
  changesTags = false
  version = 1
  values: Json = { theme: 'light', 'new-checkout': true }
  /** The version that the store had before a backup was restored. */
  restoredFrom = 0
  /** Returns the response to a request instead of the server; `undefined` for the usual response. */
  script: (kind: 'evaluate' | 'poll') => Scripted | undefined = () => undefined
  /** Handles a message of a socket instead of the server, if it returns `true`. */
  socketScript: (socket: FakeSocket, message: Json) => boolean = () => false
  /** The greatest number of requests and sockets at one time. Set it to 0 before a measurement. */
  maxOpen = 0
  /** The greatest number of requests, or of sockets, at one time. */
  maxOfOneKind = 0
  #requests = 0

  constructor(time: FakeTime) {
    this.time = time
  }

  /** The number of sockets and requests that have not ended. */
  get open(): number {
    return this.sockets.size + this.#requests
  }

  /** The constructor of sockets that connect to this server. */
  get webSocket(): ClientSocketConstructor {
    const server = this
    return class extends FakeSocket {
      constructor(_url: string) {
        super(server)
      }
    }
  }

  /** `fetch` to this server. */
  readonly fetch: Fetch = (url, request) => {
    const kind = url.endsWith('/evaluator/poll') ? 'poll' : 'evaluate'
    const signal = request.signal as AbortSignal
    const body = JSON.parse(request.body ?? '') as Json
    const headers = request.headers ?? {}
    this.note(kind)
    this.requests.push({ headers, body })
    this.#requests += 1
    this.measure()
    return new Promise<FetchResponse>((resolve, reject) => {
      let isOpen = true
      const end = () => {
        if (isOpen) this.#requests -= 1
        isOpen = false
      }
      const answer = (response: FetchResponse) => {
        end()
        resolve(response)
      }
      signal.addEventListener('abort', () => {
        end()
        reject(new Error('aborted'))
      })
      this.#aborts.add(() => {
        end()
        reject(new Error('connection reset'))
      })
      this.time.schedule(LATENCY_MS, () => {
        if (!isOpen || this.state === 'blackhole') return
        if (this.state === 'down') {
          end()
          reject(new Error('connection refused'))
        } else this.#respond({ kind, headers, body }, answer)
      })
    })
  }

  readonly #aborts = new Set<() => void>()

  /** Records an attempt to connect. */
  note(kind: Attempt['kind']): void {
    this.attempts.push({ at: this.time.monotonicNow(), kind })
  }

  /** Updates `maxOpen` and `maxOfOneKind`. */
  measure(): void {
    this.maxOpen = Math.max(this.maxOpen, this.open)
    this.maxOfOneKind = Math.max(this.maxOfOneKind, this.sockets.size, this.#requests)
  }

  /** Changes values, and sends them to all clients. */
  publish(changes: Json, removed: readonly string[] = []): void {
    const kept = Object.entries(this.values).filter(([key]) => !removed.includes(key))
    this.values = { ...Object.fromEntries(kept), ...changes }
    this.version += 1
    const message = { type: 'flags', flags: changes, version: this.version, full: false }
    for (const socket of this.sockets) {
      if (socket.contextText) socket.emit(removed.length === 0 ? message : { ...message, removed })
    }
    for (const poll of this.polls) {
      this.polls.delete(poll)
      poll.resolve(this.#valuesFor(poll.contextText, undefined))
    }
  }

  /** Ends all connections without a close frame, and refuses new ones. */
  stop(code = 1006): void {
    this.state = 'down'
    this.drop(code)
  }

  /** Ends all connections. */
  drop(code = 1006): void {
    for (const socket of [...this.sockets]) socket.end(code)
    for (const abort of this.#aborts) abort()
    this.#aborts.clear()
    this.polls.clear()
  }

  /** Returns all values of a context. */
  valuesOf(contextText: string): Json {
    const key = (JSON.parse(contextText) as Json)['key']
    return key === undefined ? this.values : { ...this.values, whoami: key }
  }

  /** The entity tag of a context's values. */
  tagOf(contextText: string): string {
    return `"${this.version}-${contextText.replaceAll('"', '')}"`
  }

  #sentTagOf(contextText: string): string {
    const tag = this.tagOf(contextText)
    return this.changesTags ? tag.replace(/"$/, '-gzip"') : tag
  }

  #respond(
    { kind, headers, body }: { kind: 'evaluate' | 'poll'; headers: Json; body: Json },
    answer: (response: FetchResponse) => void,
  ): void {
    const contextText = JSON.stringify(body['context'])
    const scripted = this.script(kind)
    if (scripted !== undefined) answer(toResponse(scripted))
    else if (kind === 'evaluate') {
      const tag = headers['if-none-match']
      answer(this.#valuesFor(contextText, tag, tag === this.tagOf(contextText) ? 304 : 200))
    } else if (body['since'] === this.tagOf(contextText)) {
      const poll = { contextText, resolve: answer }
      this.polls.add(poll)
      this.time.schedule(HOLD_MS, () => {
        if (this.polls.delete(poll)) answer(this.#valuesFor(contextText, body['since']))
      })
    } else answer(this.#valuesFor(contextText, body['since']))
  }

  /** Returns the values for a client with an entity tag. */
  #valuesFor(contextText: string, tag: unknown, status = 200): FetchResponse {
    const known = Number(/^"(\d+)/.exec(String(tag))?.[1] ?? 0)
    const isRestored = this.restoredFrom > 0 && known > this.version
    const restored = isRestored && { 'X-FF-Restored': 'true' }
    return toResponse({
      status,
      headers: {
        'X-FF-Version': String(this.version),
        ETag: this.#sentTagOf(contextText),
        ...restored,
      },
      body: this.valuesOf(contextText),
    })
  }
}

function toResponse({ status, headers = {}, body }: Scripted): FetchResponse {
  const names = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    status,
    headers: { get: (name) => names.get(name.toLowerCase()) ?? null },
    json: async () => JSON.parse(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

/** A socket of a client. */
export class FakeSocket implements ClientSocket {
  onopen: ClientSocket['onopen'] = null
  onmessage: ClientSocket['onmessage'] = null
  onclose: ClientSocket['onclose'] = null
  onerror: ClientSocket['onerror'] = null
  /** The context of the client; `undefined` until it has sent `init`. */
  contextText: string | undefined
  readonly #server: FakeServer

  constructor(server: FakeServer) {
    this.#server = server
    server.note('socket')
    server.sockets.add(this)
    server.measure()
    server.time.schedule(LATENCY_MS, () => {
      if (server.state === 'blackhole' || !server.sockets.has(this)) return
      if (server.state === 'down' || !server.hasSockets) this.end(1006)
      else if (!server.swallowsSockets) this.open()
    })
  }

  open(): void {
    this.onopen?.()
  }

  send(text: string): void {
    const message = JSON.parse(text) as Json
    this.#server.messages.push(message)
    this.#server.time.schedule(LATENCY_MS, () => {
      if (this.#server.state === 'blackhole' || !this.#server.sockets.has(this)) return
      if (!this.#server.socketScript(this, message)) this.#answer(message)
    })
  }

  close(): void {
    this.#server.sockets.delete(this)
  }

  /** Sends a message to the client. */
  emit(message: unknown): void {
    const data = typeof message === 'string' ? message : JSON.stringify(message)
    if (this.#server.state !== 'blackhole') this.onmessage?.({ data })
  }

  /** Closes the socket on the side of the server. */
  end(code: number): void {
    if (!this.#server.sockets.delete(this)) return
    if (code === 1006) this.onerror?.()
    this.onclose?.({ code })
  }

  #answer(message: Json): void {
    const { version, restoredFrom } = this.#server
    if (message['type'] === 'ping') this.emit({ type: 'pong' })
    else {
      this.contextText = JSON.stringify(message['context'])
      const isRestored = Number(message['since'] ?? 0) > version && restoredFrom > 0
      const flags = this.#server.valuesOf(this.contextText)
      const restored = isRestored && { restored: true }
      this.emit({ type: 'flags', flags, version, full: true, id: message['id'], ...restored })
    }
  }
}
