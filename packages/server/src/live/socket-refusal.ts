import type { FlagError } from '@ff/core'
import { CLOSE_CODES, type ErrorMessage } from '@ff/protocol/sdk'
import { overloaded, spreadSeconds } from '../access/admission.ts'
import { sdkStatusOf } from '../http/error-reply.ts'

/** Displaced clients connect again within this time, each at a moment of its own. */
const DISPLACED_SPREAD_SECONDS = 10

/** The last message to a client, and the code its socket is closed with. */
interface SocketRefusal {
  readonly message: ErrorMessage
  readonly closeCode: number
}

/** The refusal of a client whose socket had no valid `init` when there were too many of these. */
export function displaced(): FlagError {
  const message = 'Too many sockets have not sent a valid init; connect again later.'
  return overloaded(message, spreadSeconds(DISPLACED_SPREAD_SECONDS))
}

/** What an error means for the client of a socket. */
export function socketRefusalOf(known: FlagError): SocketRefusal {
  const { message: error, details } = known
  const message = { type: 'error', error, statusCode: sdkStatusOf(known) } as const
  const retryAfter = details?.['seconds']
  return {
    message: typeof retryAfter === 'number' ? { ...message, retryAfter } : message,
    closeCode: closeCodeOf(known),
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
