import { FlagError } from '@ff/core'
import type { Client } from '../access/client.ts'

/**
 * One request, in the neutral form that the platform bindings create. Nothing in it depends on Node
 * or on web streams.
 */
export interface Exchange extends Client {
  /** In upper case. */
  readonly method: string
  /** Percent-encoded as it came, below the server's `basePath`, without the query: `/evaluator/evaluate`. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
  /**
   * Reads the body; its JSON is parsed by the host before, or by `parse`. Throws
   * `PAYLOAD_TOO_LARGE` beyond `maxBytes`. Synchronous if all of the body has arrived.
   */
  json(maxBytes: number): JsonBody | Promise<JsonBody>
  /**
   * Reads the body as bytes, to verify a signature. Throws as `json` does, and `INTERNAL` if the
   * host has parsed the body already and the bytes are gone.
   */
  bytes(maxBytes: number): Promise<Uint8Array>
  /** Whether a body was sent. */
  readonly hasBody: boolean
  /**
   * Calls `listener` when the connection for the reply is closed or the whole reply was sent; at
   * once if the caller has gone.
   */
  onClosed(listener: () => void): void
}

/** A body that has arrived completely. */
export interface JsonBody {
  /** As they arrived; `undefined` if the host has parsed them. */
  readonly bytes: Uint8Array | undefined
  /** Throws `INVALID_REQUEST` if the body is empty or not JSON in UTF-8. */
  parse(): unknown
}

/** Headers that are `undefined` are not sent. */
export type Headers = Readonly<Record<string, string | undefined>>

/** A reply; header names in the spelling in which they are sent. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The values of `Set-Cookie`, each sent in a header of its own. */
  readonly cookies?: readonly string[]
  /**
   * null: no body, as for 204 and 304. Bytes are sent as they are, so that replies may share them.
   * Pieces are taken as fast as the caller receives them. If the caller goes away, their iterator is
   * returned, also if no piece was taken. If they fail, the connection is cut, so that the body does
   * not look complete. To be read once: the reply to a poll frees its bytes then.
   */
  readonly body: string | Uint8Array | null | AsyncIterable<string>
}

/** Frees a body that will not be sent, or not completely. */
export async function discardBody({ body }: Reply): Promise<void> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return
  await body[Symbol.asyncIterator]().return?.()
}

/** The content type of JSON. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Creates a reply whose body is the JSON text of a value. */
export function jsonReply(status: number, body: unknown, headers: Headers = {}): Reply {
  return {
    status,
    headers: { ...headers, 'Content-Type': JSON_TYPE },
    body: JSON.stringify(body),
  }
}

/** The path and the query of a request below the server's base path. */
export interface RequestTarget {
  /** Percent-encoded as it was sent; at least `/`. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
}

/**
 * Returns the part of a request's address below `basePath`; `undefined` if the address is elsewhere.
 * Takes a path or, as proxies send it, a whole URL.
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
  return path.startsWith('/') ? { path, query } : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Creates a body from its bytes. */
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

/** Throws `UNSUPPORTED_MEDIA_TYPE` for a compressed body: its size is not known before it is unpacked. */
export function assertNotCompressed(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || /^\s*(identity\s*)?$/i.test(contentEncoding)) return
  throw new FlagError('UNSUPPORTED_MEDIA_TYPE', 'Send the request body without Content-Encoding.')
}

/** Throws `UNSUPPORTED_MEDIA_TYPE` if the content type is given and is not JSON. */
export function assertJson(contentType: string | undefined): void {
  if (contentType === undefined || contentType === '') return
  if (/^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)) return
  throw new FlagError('UNSUPPORTED_MEDIA_TYPE', 'Send the request body as application/json.')
}

/** The refusal of a body that is too large. */
export function bodyTooLarge(maxBytes: number): FlagError {
  const message = `The request body is larger than ${maxBytes} bytes.`
  return new FlagError('PAYLOAD_TOO_LARGE', message)
}
