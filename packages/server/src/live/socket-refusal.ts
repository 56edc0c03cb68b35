import type { FlagError } from '@ff/core'
import type { ErrorMessage } from '@ff/protocol/sdk'
import { overloaded, spreadSeconds } from '../access/connection-throttle.ts'

/** The last message to a client, and how its socket is closed. */
export interface SocketRefusal {
  readonly message: ErrorMessage
  readonly closeCode: number
  readonly closeReason: string
}

/** Displaced clients connect again at random times within this period. */
const DISPLACED_SPREAD_SECONDS = 10

/** The refusal of a client whose socket had no valid `init` when there were too many of these. */
export function displaced(): FlagError {
  const message = 'Too many sockets have not sent a valid init; connect again later.'
  return overloaded(message, spreadSeconds(DISPLACED_SPREAD_SECONDS))
}
