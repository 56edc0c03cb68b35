import type { FlagError } from '@ff/core'
import { CLOSE_CODES } from '@ff/protocol/sdk'
import type { SocketRefusal } from '../live/socket-refusal.ts'
import type { Logger } from '../runtime/logger.ts'
import { sdkStatusOf, toKnownError } from './error-reply.ts'

/** Converts an error to what the client of a socket receives; logs errors that it must not see. */
export function toSocketRefusal(error: unknown, logger: Logger): SocketRefusal {
  const known = toKnownError(error, logger)
  const message = { type: 'error', error: known.message, statusCode: sdkStatusOf(known) } as const
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
