import { FlagError, type FlagErrorCode, isFlagError } from '@ff/core'
import { CLOSE_CODES, SDK_PATHS } from '@ff/protocol/sdk'
import type { SocketRefusal } from '../live/socket-like.ts'
import type { Logger } from '../runtime/logger.ts'
import { type Headers, jsonReply, type Reply } from './exchange.ts'

const MANAGEMENT_STATUS = {
  INVALID_REQUEST: 400,
  INVALID_CONTEXT: 400,
  INVALID_DEFINITION: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  QUOTA_EXCEEDED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const satisfies Record<FlagErrorCode, number>

/**
 * The status codes of the SDK endpoints. These endpoints use fewer statuses, so other statuses
 * become 400 or 500.
 */
const SDK_STATUS = {
  ...MANAGEMENT_STATUS,
  CONFLICT: 500,
  UNSUPPORTED_MEDIA_TYPE: 400,
  UNAVAILABLE: 500,
} as const satisfies Record<FlagErrorCode, number>

/** Creates the reply of an SDK endpoint to a failure: `{ error, statusCode }`. */
export function sdkErrorReply(error: unknown, headers: Headers): Reply {
  const known = toKnownError(error)
  const statusCode = SDK_STATUS[known.code]
  const body = { error: known.message, statusCode }
  const reply = jsonReply(statusCode, body, { ...headers, ...headersOf(known, 'ApiKey') })
  return withFailure(reply, error)
}

/** The error codes of OFREP that describe a fault of the request. */
const OFREP_CODES: Partial<Record<FlagErrorCode, string>> = {
  INVALID_REQUEST: 'PARSE_ERROR',
  UNSUPPORTED_MEDIA_TYPE: 'PARSE_ERROR',
  INVALID_CONTEXT: 'INVALID_CONTEXT',
}

/**
 * Creates the reply of an OFREP endpoint to a failure: `{ errorCode, errorDetails }`, with the
 * `key` of the flag if the request names one.
 */
export function ofrepErrorReply(error: unknown, headers: Headers, key?: string): Reply {
  const known = toKnownError(error)
  const errorCode = OFREP_CODES[known.code] ?? 'GENERAL'
  const body = { key, errorCode, errorDetails: known.message }
  const about = { ...headers, ...headersOf(known, 'ApiKey') }
  return withFailure(jsonReply(SDK_STATUS[known.code], body, about), error)
}

/** Creates the reply of a management endpoint to a failure: `{ statusCode, message, data }`. */
export function managementErrorReply(error: unknown): Reply {
  const known = toKnownError(error)
  const statusCode = MANAGEMENT_STATUS[known.code]
  const body = { statusCode, message: known.message, data: known.details }
  return withFailure(jsonReply(statusCode, body, headersOf(known, 'Bearer')), error)
}

/** Adds the error to a reply with a status from 500, for the log. */
function withFailure(reply: Reply, error: unknown): Reply {
  return reply.status < 500 ? reply : { ...reply, failure: error }
}

/**
 * Returns a `FlagError` unchanged, and an `INTERNAL` error in place of any other error, because
 * only the message of a `FlagError` may reach a client.
 */
function toKnownError(error: unknown): FlagError {
  if (isFlagError(error)) return error
  return new FlagError('INTERNAL', 'The server failed to process the request.')
}

function headersOf(error: FlagError, scheme: 'ApiKey' | 'Bearer'): Record<string, string> {
  const allow = error.details?.['allow']
  if (error.code === 'METHOD_NOT_ALLOWED' && typeof allow === 'string') return { Allow: allow }
  const seconds = error.details?.['seconds']
  if (error.code === 'RATE_LIMITED' && typeof seconds === 'number')
    return { 'Retry-After': String(seconds) }
  if (error.code === 'UNAUTHENTICATED') return { 'WWW-Authenticate': scheme }
  return {}
}

/**
 * Converts an error to the error message and close code for a socket. Logs an error if the client
 * must not see its details.
 */
export function toSocketRefusal(error: unknown, logger: Logger): SocketRefusal {
  const known = toKnownError(error)
  if (known.code === 'UNAVAILABLE' || known.code === 'INTERNAL') {
    logger.error('A socket was refused', { path: SDK_PATHS.socket, cause: error })
  }
  const message = {
    type: 'error',
    error: known.message,
    statusCode: SDK_STATUS[known.code],
  } as const
  const retryAfter = known.details?.['seconds']
  return {
    message: typeof retryAfter === 'number' ? { ...message, retryAfter } : message,
    closeCode: closeCodeOf(known),
    closeReason: known.code,
  }
}

function closeCodeOf({ code, details }: FlagError): number {
  switch (code) {
    case 'UNAUTHENTICATED':
    case 'FORBIDDEN':
      return CLOSE_CODES.keyRefused
    case 'RATE_LIMITED':
      return details?.['isOverload'] === true ? CLOSE_CODES.tryAgainLater : CLOSE_CODES.tooMany
    case 'UNAVAILABLE':
    case 'INTERNAL':
    case 'NOT_FOUND':
      return CLOSE_CODES.tryAgainLater
    default:
      return CLOSE_CODES.badMessage
  }
}
