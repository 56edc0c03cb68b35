import type { IncomingMessage } from 'node:http'
import { FlagError } from '@ff/core'
import { assertNotCompressed, bodyTooLarge, type JsonBody, jsonBody } from '../http/exchange.ts'

/** A request whose host may have parsed the body already, as `express.json()` does. */
export interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
}

/** How much of a body that is too large is discarded before the connection is cut. */
const DISCARDED_BYTES = 1024 * 1024

/** The body of a request: as the host has parsed it, or as it is read here. */
export class RequestBody {
  readonly #request: ParsedRequest
  /** What had arrived when the request was taken up. */
  #first: Buffer | null = null

  constructor(request: ParsedRequest) {
    this.#request = request
  }

  /** Whether the client announced a body. */
  get isAnnounced(): boolean {
    return isAnnounced(this.#request)
  }

  /** Whether there is a body that was not read yet. */
  get isUnread(): boolean {
    return this.isAnnounced && !this.#request.readableDidRead
  }

  /** Whether nothing of the body is left to be read from the connection. */
  get isComplete(): boolean {
    return this.#first?.byteLength === this.#announcedLength || !isAnnounced(this.#request)
  }

  /** Takes what has arrived already: mostly that is the whole body. */
  takeUp(): void {
    if (this.isUnread) this.#first = this.#request.read()
  }

  /** Reads the body as JSON, up to `maxBytes`; synchronous if all of it has arrived. */
  json(maxBytes: number): JsonBody | Promise<JsonBody> {
    const parsed = this.#parsed(maxBytes)
    // A host that parses to text or bytes leaves the JSON to this server.
    if (typeof parsed === 'string') return jsonBody(Buffer.from(parsed))
    if (parsed instanceof Uint8Array) return jsonBody(parsed)
    if (parsed !== undefined) return { bytes: undefined, parse: () => parsed }
    const bytes = this.#bytes(maxBytes)
    return bytes instanceof Promise ? bytes.then(jsonBody) : jsonBody(bytes)
  }

  /** Reads the body as bytes: those of the host if it has read bytes or text, or those read here. */
  async raw(maxBytes: number): Promise<Uint8Array> {
    const { bytes } = await this.json(maxBytes)
    if (bytes !== undefined) return bytes
    const message = 'The host has parsed this body; mount the server before its body parser.'
    throw new FlagError('INTERNAL', message)
  }

  /** Returns the body as the host has parsed it; `undefined` if it has not. */
  #parsed(maxBytes: number): unknown {
    // It counts only once the stream was read: some parsers set `{}` without reading.
    if (this.#first !== null || !this.#request.readableDidRead) return undefined
    const { body } = this.#request
    if (body !== undefined && this.#announcedLength > maxBytes) throw bodyTooLarge(maxBytes)
    return body
  }

  /** Reads the bytes, up to `maxBytes`; synchronous if all of them have arrived. */
  #bytes(maxBytes: number): Uint8Array | Promise<Uint8Array> {
    const { headers, readableEnded } = this.#request
    assertNotCompressed(headers['content-encoding'])
    if (this.#announcedLength > maxBytes) {
      discard(this.#request)
      throw bodyTooLarge(maxBytes)
    }
    const first = this.#first
    // The request may be pending for long: the bytes must not stay in memory.
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

/** Reads what is left of a body that nothing waits for, so that the connection can be used again. */
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
    const cut = () => reject(new FlagError('INVALID_REQUEST', 'The request body ended too early.'))
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
      // A listener that stayed would keep the chunks for as long as the request is held.
      request.off('data', keep).off('error', cut).off('close', cut)
      resolve(Buffer.concat(chunks))
    })
    request.once('error', cut)
    request.once('close', cut)
  })
}

/**
 * Lets a client that sends too much come to an end and read its answer, within reason: cutting
 * the connection at once would reset it, and the client would see no answer.
 */
function discard(request: IncomingMessage): void {
  let discarded = 0
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.byteLength
    if (discarded > DISCARDED_BYTES) request.destroy()
  })
}
