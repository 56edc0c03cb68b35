import { FlagError } from '@ff/core'
import type { Client } from '../access/client.ts'
import type { Compressors } from './compressors.ts'
import { canonicalPath } from './paths.ts'

/**
 * A request in the platform-neutral form that bindings create. It depends neither on Node nor on
 * web streams.
 */
export interface Exchange extends Client, RequestTarget {
  /** The request method in upper case. */
  readonly method: string
  /**
   * Reads the body. Throws `PAYLOAD_TOO_LARGE` if the body has more than `maxBytes` bytes.
   * Synchronous if the whole body has arrived.
   */
  json(maxBytes: number): JsonBody | Promise<JsonBody>
  /**
   * Reads the body as bytes, for the verification of a signature. Throws as `json` does, and
   * `INTERNAL` if the host has parsed the body and the bytes are not available.
   */
  bytes(maxBytes: number): Promise<Uint8Array>
  /** The functions of the platform that compress a reply; absent if it has none. */
  readonly compressors?: Compressors
  /** `true` if the request has a body. */
  readonly hasBody: boolean
  /**
   * The request object of the host, on which a framework stores sessions and users: the
   * `IncomingMessage` of `toNodeHandler` (in Express its `Request`), or the `Request` of `fetch`.
   * Absent if another binding has created the exchange and does not set it.
   */
  readonly hostRequest?: unknown
  /**
   * Calls `listener` when the connection is closed or the whole reply was sent. Calls it
   * immediately if the client has already disconnected.
   */
  onClosed(listener: () => void): void
}

/** Handles a request. Synchronous if nothing has to be loaded. Neither throws nor rejects. */
export type Handle = (exchange: Exchange) => Reply | Promise<Reply>

/** A body that has arrived completely. */
export interface JsonBody {
  /** The bytes of the body; `undefined` if the host has parsed them. */
  readonly bytes: Uint8Array | undefined
  /** Returns the JSON value. Throws `INVALID_REQUEST` if the body is empty or not JSON in UTF-8. */
  parse(): unknown
}

/** Header values by name. Headers that are `undefined` are not sent. */
export type Headers = Readonly<Record<string, string | undefined>>

/** A reply. Header names have the case in which they are sent. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The values of `Set-Cookie`. Each is sent in a separate header. */
  readonly cookies?: readonly string[]
  /**
   * The body; `null` for none, as for 204 and 304. It must be read only once, because the reply to
   * a poll frees its bytes when they are read.
   *
   * Bytes are sent without a copy, so that several replies can share them. Chunks are read as fast
   * as the client receives them. If the client disconnects, `return` is called on their iterator,
   * even if no chunk was read. If the iterator fails, the connection is closed, so that the body
   * does not appear complete.
   */
  readonly body: string | Uint8Array | null | AsyncIterable<string>
  /** The error behind a status from 500. It is logged and not sent. */
  readonly failure?: unknown
}

/** The reply for a client that has disconnected. It is counted, but not sent. */
export const GONE: Reply = { status: 204, headers: {}, body: null }

/** Releases the resources of a body that is not sent, or not completely sent. */
export async function discardBody({ body }: Reply): Promise<void> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return
  await body[Symbol.asyncIterator]().return?.()
}

/** The content type of JSON. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Creates a reply with the JSON text of a value as its body. */
export function jsonReply(status: number, body: unknown, headers: Headers = {}): Reply {
  return {
    status,
    headers: { ...headers, 'Content-Type': JSON_TYPE },
    body: JSON.stringify(body),
  }
}

/** The path and the query of a request below the server's base path. */
export interface RequestTarget {
  /**
   * The path below the base path, percent-encoded: `/evaluator/evaluate`; at least `/`. It begins
   * with one slash.
   */
  readonly path: string
  /** The query without the question mark; empty if there is none. */
  readonly query: string
  /** `true` if the request is not below the base path. `path` is then the whole path. */
  readonly isOutsideBasePath?: boolean
}

/** Returns the target of a request that is not below the base path. */
export function outsideTarget(address: string): RequestTarget {
  return { path: '/', query: '', ...targetBelow('', address), isOutsideBasePath: true }
}

/**
 * Returns the path and query of an address relative to `basePath`; `undefined` if the address is
 * not below it. The address is a path or an absolute URL; some proxies send the latter.
 */
export function targetBelow(basePath: string, address: string): RequestTarget | undefined {
  const local = address.startsWith('/') ? address : address.replace(/^https?:\/\/[^/?#]*/i, '')
  const fragment = local.indexOf('#')
  const shown = fragment === -1 ? local : local.slice(0, fragment)
  const mark = shown.indexOf('?')
  const whole = mark === -1 ? shown : shown.slice(0, mark)
  const query = mark === -1 ? '' : shown.slice(mark + 1)
  if (!whole.startsWith(basePath)) return undefined
  const path = whole.slice(basePath.length)
  if (path === '') return { path: '/', query }
  return path.startsWith('/') ? { path: canonicalPath(path), query } : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Creates a `JsonBody` from the bytes of a body. */
export function jsonBody(bytes: Uint8Array): JsonBody {
  const parse = (): unknown => {
    if (bytes.byteLength === 0) {
      throw new FlagError('INVALID_REQUEST', 'The request has no body; send a JSON object.')
    }
    try {
      return JSON.parse(utf8.decode(bytes))
    } catch (cause) {
      throw new FlagError('INVALID_REQUEST', 'The request body is not valid JSON.', { cause })
    }
  }
  return { bytes, parse }
}

/**
 * Throws `UNSUPPORTED_MEDIA_TYPE` if the body is compressed, because the size of its content is
 * unknown.
 */
export function assertNotCompressed(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || /^\s*(identity\s*)?$/i.test(contentEncoding)) return
  throw new FlagError('UNSUPPORTED_MEDIA_TYPE', 'Send the request body without Content-Encoding.')
}

/** Throws `UNSUPPORTED_MEDIA_TYPE` if there is a content type and it is not JSON. */
export function assertJson(contentType: string | undefined): void {
  if (contentType === undefined || contentType === '') return
  if (/^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) return
  throw new FlagError('UNSUPPORTED_MEDIA_TYPE', 'Send the request body as application/json.')
}

/** Creates the `PAYLOAD_TOO_LARGE` error for a body of more than `maxBytes`. */
export function bodyTooLarge(maxBytes: number): FlagError {
  const message = `The request body is larger than ${maxBytes} bytes.`
  return new FlagError('PAYLOAD_TOO_LARGE', message)
}

/** Creates the `INVALID_REQUEST` error for a body whose client has disconnected. */
export function bodyCutOff(cause?: unknown): FlagError {
  return new FlagError('INVALID_REQUEST', 'The request body ended too early.', { cause })
}
