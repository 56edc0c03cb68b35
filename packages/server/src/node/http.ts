import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { FlagError } from '@ff/core'
import type { FlagServer } from '../flag-server.ts'
import { managementErrorReply } from '../http/error-reply.ts'
import type { Exchange, Reply } from '../http/exchange.ts'
import { type Target, targetBelow } from '../http/target.ts'
import { silentLogger } from '../logger.ts'
import { hasBody, type ParsedRequest, readJson, readRaw } from './body.ts'

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
      // `handle` never rejects.
      void flags.handle(exchange).then((reply) => writeReply(response, reply))
    } else if (next !== undefined) {
      next()
    } else {
      const outside = new FlagError('NOT_FOUND', 'There is nothing at this path.')
      writeReply(response, managementErrorReply(outside, silentLogger))
    }
  }
}

class NodeExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #request: ParsedRequest
  readonly #response: ServerResponse

  constructor(request: ParsedRequest, response: ServerResponse, { path, query }: Target) {
    this.method = request.method ?? 'GET'
    this.path = path
    this.query = query
    this.#request = request
    this.#response = response
  }

  get address(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  get isEncrypted(): boolean {
    return 'encrypted' in this.#request.socket && this.#request.socket.encrypted === true
  }

  get hasBody(): boolean {
    return hasBody(this.#request)
  }

  /** The response's `close` tells of a caller that went away; the request's does not. */
  whenGone(leave: () => void): void {
    const response = this.#response
    if (response.destroyed) leave()
    else {
      response.on('close', () => {
        if (!response.writableFinished) leave()
      })
    }
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  json(maxBytes: number): Promise<unknown> {
    return readJson(this.#request, maxBytes)
  }

  bytes(maxBytes: number): Promise<Uint8Array> {
    return readRaw(this.#request, maxBytes)
  }
}

function writeReply(response: ServerResponse, { status, headers, body }: Reply): void {
  if (response.destroyed || response.headersSent) return
  if (body === null) {
    response.writeHead(status, headers).end()
  } else if (typeof body === 'string') {
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body)
  } else {
    // When the pieces fail, or the caller goes, it destroys the other end; there is no more to say.
    pipeline(Readable.from(body), response.writeHead(status, headers), () => undefined)
  }
}
