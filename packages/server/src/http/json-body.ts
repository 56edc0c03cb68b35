import { FlagError } from '@ff/core'
import type { JsonBody } from './exchange.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Creates a body from its bytes. */
export function jsonBody(bytes: Uint8Array): JsonBody {
  return { bytes, parse: () => parseJson(bytes) }
}

function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) {
    throw new FlagError('INVALID_REQUEST', 'The request has no body; send a JSON object.')
  }
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    throw new FlagError('INVALID_REQUEST', 'The request body is not valid JSON.', { cause })
  }
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
