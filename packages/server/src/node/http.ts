import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FlagServer } from '../flag-server.ts'
import type { Compressors } from '../http/compressors.ts'
import {
  discardBody,
  type Exchange,
  type JsonBody,
  outsideTarget,
  type Reply,
  type RequestTarget,
  targetBelow,
} from '../http/exchange.ts'
import { discardRest, type ParsedRequest, RequestBody } from './body.ts'
import { writeChunks } from './chunked-body.ts'
import { nodeCompressors } from './compressors.ts'

/** A request handler for `http.createServer`, Express and compatible frameworks. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/**
 * A request of a framework that mounts handlers under a path and keeps the whole URL in
 * `originalUrl`.
 */
interface MountedRequest extends ParsedRequest {
  readonly originalUrl?: string
}

/**
 * Creates a handler that serves all paths below the server's `basePath`. For other paths it calls
 * `next`, or replies with 404 if the host passes no `next`. A body that the host has parsed is used
 * without parsing it again.
 *
 * @example
 * http.createServer(toNodeHandler(flags))
 * app.use('/flags', toNodeHandler(flags)) // with basePath: '/flags'
 */
export function toNodeHandler(flags: Pick<FlagServer, 'basePath' | 'handle'>): NodeHandler {
  return (request: MountedRequest, response, next) => {
    const address = request.originalUrl ?? request.url ?? '/'
    const target = targetBelow(flags.basePath, address)
    if (target === undefined && next !== undefined) {
      next()
      return
    }
    const exchange = new NodeExchange(response, target ?? outsideTarget(address))
    // If the body arrives together with the headers, Node provides it only after the `request`
    // event.
    if (exchange.body.isUnread) process.nextTick(takeUp, flags, exchange)
    else serve(flags, exchange)
  }
}

function takeUp(flags: Pick<FlagServer, 'handle'>, exchange: NodeExchange): void {
  exchange.body.takeUp()
  serve(flags, exchange)
}

/** Handles the request and writes the reply. */
function serve(flags: Pick<FlagServer, 'handle'>, exchange: NodeExchange): void {
  const { response, body } = exchange
  const respond = body.isComplete ? writeReply : discardAndReply
  // `handle` neither throws nor rejects.
  const reply = flags.handle(exchange)
  // The reply to a poll may be pending for a long time. This callback keeps only the response in
  // memory, not the exchange. A bound function uses less memory than a closure.
  if (reply instanceof Promise) void reply.then(respond.bind(null, response))
  else respond(response, reply)
}

class NodeExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly isOutsideBasePath: boolean
  readonly body: RequestBody
  readonly response: ServerResponse
  readonly #request: IncomingMessage

  constructor(response: ServerResponse, target: RequestTarget) {
    const { path, query, isOutsideBasePath = false } = target
    const request = response.req
    this.method = request.method ?? 'GET'
    this.path = path
    this.query = query
    this.isOutsideBasePath = isOutsideBasePath
    this.body = new RequestBody(request)
    this.response = response
    this.#request = request
  }

  get address(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  get isEncrypted(): boolean {
    return 'encrypted' in this.#request.socket && this.#request.socket.encrypted === true
  }

  get compressors(): Compressors {
    return nodeCompressors
  }

  get hostRequest(): IncomingMessage {
    return this.#request
  }

  get hasBody(): boolean {
    return this.body.isAnnounced
  }

  /**
   * Listens to the response, because the request emits `close` earlier, after its body was read.
   */
  onClosed(listener: () => void): void {
    if (this.response.destroyed) listener()
    else this.response.on('close', listener)
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  json(maxBytes: number): JsonBody | Promise<JsonBody> {
    return this.body.json(maxBytes)
  }

  bytes(maxBytes: number): Promise<Uint8Array> {
    return this.body.raw(maxBytes)
  }
}

function discardAndReply(response: ServerResponse, reply: Reply): void {
  discardRest(response.req)
  writeReply(response, reply)
}

function writeReply(response: ServerResponse, reply: Reply): void {
  const { status, body } = reply
  if (response.destroyed || response.headersSent) {
    void discardBody(reply).catch(() => undefined)
    return
  }
  const list = listOf(reply)
  if (body === null) {
    response.writeHead(status, list).end()
  } else if (typeof body === 'string') {
    const length = Buffer.byteLength(body)
    list.push('Content-Length', String(length))
    // If each character is one byte in UTF-8, Latin-1 encodes the same bytes faster.
    response.writeHead(status, list).end(body, length === body.length ? 'latin1' : 'utf8')
  } else if (body instanceof Uint8Array) {
    list.push('Content-Length', String(body.byteLength))
    response.writeHead(status, list).end(body)
  } else {
    writeChunks(response.writeHead(status, list), body)
  }
}

/**
 * Returns the header names and values as one list, in which each name is followed by its value.
 * Node writes headers fastest in this form.
 */
function listOf({ headers, cookies = [] }: Reply): (string | string[])[] {
  const list: (string | string[])[] = []
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) list.push(name, value)
  }
  // One entry for all cookies: if the host has set headers before, Node replaces the values of
  // repeated names.
  if (cookies.length > 0) list.push('Set-Cookie', [...cookies])
  return list
}
