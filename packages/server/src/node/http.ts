import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { FlagError } from '@ff/core'
import type { FlagServer } from '../flag-server.ts'
import { managementErrorReply } from '../http/error-reply.ts'
import type { Exchange, Headers, Reply, Waiting } from '../http/exchange.ts'
import { type Target, targetBelow } from '../http/target.ts'
import { silentLogger } from '../logger.ts'
import { whenHere } from '../when-here.ts'
import { type ParsedRequest, RequestBody, readJson, readRaw } from './body.ts'

/** What `http.createServer`, Express and everything like them call for a request. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** Frameworks that mount a handler under a path keep the whole address here. */
interface MountedRequest extends ParsedRequest {
  readonly originalUrl?: string
}

/**
 * Serves everything below the server's `basePath`. Other paths are left to `next` where the host
 * gives one, and are 404 otherwise. A body that the host has parsed is taken as it is.
 *
 * @example
 * http.createServer(toNodeHandler(flags))
 * app.use('/flags', toNodeHandler(flags)) // with basePath: '/flags'
 */
export function toNodeHandler(flags: Pick<FlagServer, 'basePath' | 'handle'>): NodeHandler {
  return (request: MountedRequest, response, next) => {
    const target = targetBelow(flags.basePath, request.originalUrl ?? request.url ?? '/')
    if (target !== undefined) {
      const exchange = new NodeExchange(request, response, target)
      // What comes with the head is handed over after it.
      if (exchange.body.isUnread) process.nextTick(answer, flags, exchange)
      else answer(flags, exchange)
    } else if (next !== undefined) {
      next()
    } else {
      const outside = new FlagError('NOT_FOUND', 'There is nothing at this path.')
      writeReply(response, managementErrorReply(outside, silentLogger))
    }
  }
}

function answer(flags: Pick<FlagServer, 'handle'>, exchange: NodeExchange): void {
  const { body, response } = exchange
  if (body.isUnread) body.takeUp()
  // `handle` neither throws nor rejects.
  void whenHere(flags.handle(exchange), (reply) => {
    body.discardUnwanted()
    writeReply(response, reply)
  })
}

class NodeExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: RequestBody
  readonly response: ServerResponse
  parsedBytes: Uint8Array | undefined
  readonly #request: ParsedRequest

  constructor(request: ParsedRequest, response: ServerResponse, { path, query }: Target) {
    this.method = request.method ?? 'GET'
    this.path = path
    this.query = query
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

  get hasBody(): boolean {
    return this.body.isAnnounced
  }

  /** The response's `close` tells of a caller that went away; the request's does not. */
  whenGone(waiting: Waiting): void {
    const { response } = this
    this.parsedBytes = undefined
    if (response.destroyed) waiting.leave()
    else {
      response.on('close', () => {
        if (!response.writableFinished) waiting.leave()
      })
    }
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  json(maxBytes: number): unknown | Promise<unknown> {
    return whenHere(readJson(this.body, maxBytes), ({ json, bytes }) => {
      this.parsedBytes = bytes
      return json
    })
  }

  bytes(maxBytes: number): Promise<Uint8Array> {
    return readRaw(this.body, maxBytes)
  }
}

function writeReply(response: ServerResponse, { status, headers, body }: Reply): void {
  if (response.destroyed || response.headersSent) return
  const list = listOf(headers)
  if (body === null) {
    response.writeHead(status, list).end()
  } else if (typeof body === 'string') {
    const length = Buffer.byteLength(body)
    list.push('Content-Length', String(length))
    // Text of characters that are one byte each is sent as it is.
    response.writeHead(status, list).end(body, length === body.length ? 'latin1' : 'utf8')
  } else if (body instanceof Uint8Array) {
    list.push('Content-Length', String(body.byteLength))
    response.writeHead(status, list).end(body)
  } else {
    // When the pieces fail, or the caller goes, it destroys the other end; there is no more to say.
    pipeline(Readable.from(body), response.writeHead(status, list), () => undefined)
  }
}

/** Names and values in turn, as Node takes them with the least ado. */
function listOf(headers: Headers): string[] {
  const list: string[] = []
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) list.push(name, value)
  }
  return list
}
