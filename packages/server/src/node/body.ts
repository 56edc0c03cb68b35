import type { IncomingMessage } from 'node:http'
import { FlagError } from '@ff/core'
import { assertNotCompressed, bodyTooLarge, parseJsonBody } from '../http/json-body.ts'

/** A request whose host may have parsed the body already, as `express.json()` does. */
export interface ParsedRequest extends IncomingMessage {
  readonly body?: unknown
}

/** Of a body that is too large, this much more is thrown away before the connection is cut. */
const DISCARDED_BYTES = 1024 * 1024

/** Whether the client announced a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** The body as JSON: what the host has parsed, else what is read here, up to `maxBytes`. */
export async function readJson(request: ParsedRequest, maxBytes: number): Promise<unknown> {
  // A parsed body counts only once the stream was read: some parsers set `{}` without reading.
  if (request.body !== undefined && request.readableDidRead) {
    if (announcedLength(request) > maxBytes) throw bodyTooLarge(maxBytes)
    return toJson(request.body)
  }
  assertNotCompressed(request.headers['content-encoding'])
  return parseJsonBody(await readBytes(request, maxBytes))
}

/** The body as it came: what the host has read as bytes or text, else what is read here. */
export async function readRaw(request: ParsedRequest, maxBytes: number): Promise<Uint8Array> {
  assertNotCompressed(request.headers['content-encoding'])
  if (request.body === undefined || !request.readableDidRead) return readBytes(request, maxBytes)
  if (announcedLength(request) > maxBytes) throw bodyTooLarge(maxBytes)
  if (typeof request.body === 'string') return Buffer.from(request.body)
  if (request.body instanceof Uint8Array) return request.body
  const message = 'The host has parsed this body; mount the server before its body parser.'
  throw new FlagError('INTERNAL', message)
}

/** A host that parses to text or bytes leaves the JSON to us. */
function toJson(body: unknown): unknown {
  if (typeof body === 'string') return parseJsonBody(Buffer.from(body))
  return body instanceof Uint8Array ? parseJsonBody(body) : body
}

function announcedLength({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0)
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  if (request.readableEnded || !hasBody(request)) return Promise.resolve(new Uint8Array())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const refuse = () => {
      request.off('data', keep)
      discard(request)
      reject(bodyTooLarge(maxBytes))
    }
    const keep = (chunk: Buffer) => {
      length += chunk.byteLength
      chunks.push(chunk)
      if (length > maxBytes) refuse()
    }
    const cut = () => reject(new FlagError('INVALID_REQUEST', 'The request body ended too early.'))
    if (announcedLength(request) > maxBytes) {
      refuse()
      return
    }
    request.on('data', keep)
    request.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
    )
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
