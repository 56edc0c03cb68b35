import type { IncomingMessage } from 'node:http'
import { FlagError } from '@ff/core'
import {
  assertNotCompressed,
  bodyCutOff,
  bodyTooLarge,
  type JsonBody,
  jsonBody,
} from '../http/exchange.ts'

/** A request with a body that the host may already have parsed, as `express.json()` does. */
export interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
}

/**
 * The maximum number of bytes that are read from a refused body and discarded before the connection
 * is closed.
 */
const DISCARDED_BYTES = 1024 * 1024

/** The body of a request, which either the host or this class reads. */
export class RequestBody {
  readonly #request: ParsedRequest
  /** The bytes that `takeUp` has read. */
  #first: Buffer | null = null

  constructor(request: ParsedRequest) {
    this.#request = request
  }

  /** `true` if the headers announce a body. */
  get isAnnounced(): boolean {
    return isAnnounced(this.#request)
  }

  /** `true` if there is a body and reading it has not begun. */
  get isUnread(): boolean {
    return this.isAnnounced && !this.#request.readableDidRead
  }

  /** `true` if no part of the body remains to be read from the connection. */
  get isComplete(): boolean {
    return this.#first?.byteLength === this.#announcedLength || !isAnnounced(this.#request)
  }

  /** Reads the bytes that have already arrived. Usually they are the whole body. */
  takeUp(): void {
    if (this.isUnread) this.#first = this.#request.read()
  }

  /**
   * Reads the body as JSON, up to `maxBytes`. Synchronous if the whole body has arrived. Throws
   * `PAYLOAD_TOO_LARGE` if the body is larger, and `INVALID_REQUEST` if the body ends too early.
   */
  json(maxBytes: number): JsonBody | Promise<JsonBody> {
    const parsed = this.#parsed(maxBytes)
    // Some body parsers return text or bytes and leave the JSON unparsed.
    if (typeof parsed === 'string') return jsonBody(Buffer.from(parsed))
    if (parsed instanceof Uint8Array) return jsonBody(parsed)
    if (parsed !== undefined) return { bytes: undefined, parse: () => parsed }
    const bytes = this.#bytes(maxBytes)
    return bytes instanceof Promise ? bytes.then(jsonBody) : jsonBody(bytes)
  }

  /**
   * Reads the body as bytes, from the connection or from a host that has read it as text or bytes.
   * Throws `INTERNAL` if the host has parsed it to another value.
   */
  async raw(maxBytes: number): Promise<Uint8Array> {
    const { bytes } = await this.json(maxBytes)
    if (bytes !== undefined) return bytes
    const message = 'The host has parsed this body; mount the server before its body parser.'
    throw new FlagError('INTERNAL', message)
  }

  /** Returns the body that the host has parsed; `undefined` if the host has not read it. */
  #parsed(maxBytes: number): unknown {
    // `body` is valid only if the stream was read. Some parsers set `{}` without reading.
    if (this.#first !== null || !this.#request.readableDidRead) return undefined
    const { body } = this.#request
    if (body !== undefined && this.#announcedLength > maxBytes) throw bodyTooLarge(maxBytes)
    return body
  }

  /** Reads the bytes, up to `maxBytes`. Synchronous if all of them have arrived. */
  #bytes(maxBytes: number): Uint8Array | Promise<Uint8Array> {
    const { headers, readableEnded } = this.#request
    assertNotCompressed(headers['content-encoding'])
    if (this.#announcedLength > maxBytes) {
      discard(this.#request)
      throw bodyTooLarge(maxBytes)
    }
    const first = this.#first
    // The request may stay pending for a long time, and must not keep the bytes in memory.
    this.#first = null
    if (first?.byteLength === this.#announcedLength) return first
    if (readableEnded || !this.isAnnounced) return first ?? new Uint8Array()
    return readRest(this.#request, first, maxBytes)
  }

  get #announcedLength(): number {
    return Number(this.#request.headers['content-length'] ?? 0)
  }
}

function isAnnounced({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/**
 * Reads and discards the rest of a body, so that the connection can be used for another request.
 */
export function discardRest(request: IncomingMessage): void {
  if (!request.complete && isAnnounced(request)) discard(request)
}

function readRest(
  request: IncomingMessage,
  first: Buffer | null,
  maxBytes: number,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const cut = () => reject(bodyCutOff())
    const keep = (chunk: Buffer) => {
      length += chunk.byteLength
      chunks.push(chunk)
      if (length <= maxBytes) return
      request.off('data', keep)
      discard(request)
      reject(bodyTooLarge(maxBytes))
    }
    if (first !== null) keep(first)
    if (request.destroyed) cut()
    request.on('data', keep)
    request.once('end', () => {
      // A remaining listener would keep the chunks in memory while the request is pending.
      request.off('data', keep).off('error', cut).off('close', cut)
      resolve(Buffer.concat(chunks))
    })
    request.once('error', cut)
    request.once('close', cut)
  })
}

/**
 * Discards the rest of a body, up to a limit, so that the client can finish sending and read the
 * reply. Closing the connection immediately would reset it, and the client would receive no reply.
 */
function discard(request: IncomingMessage): void {
  let discarded = 0
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.byteLength
    if (discarded > DISCARDED_BYTES) request.destroy()
  })
}
