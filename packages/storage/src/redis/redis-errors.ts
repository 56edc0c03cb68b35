import { FlagError, isFlagError } from '@ff/core'

/** The beginnings of responses to a user or a password that is wrong or has expired. */
const REFUSED_LOGIN = /^(?:WRONGPASS|NOAUTH|ERR (?:AUTH|invalid password|Client sent AUTH))/

/**
 * Creates the error `UNAVAILABLE` for a command that failed or a connection that was not opened. It
 * has no cause: the errors of ioredis contain their command, and thereby a password.
 */
export function redisFailed(error: unknown, place: string): FlagError {
  if (isFlagError(error)) return error
  const failed = (what: string) => new FlagError('UNAVAILABLE', `\`url\`: ${what}.`)
  const reason = error instanceof Error ? error.message : String(error)
  if (REFUSED_LOGIN.test(reason))
    return failed(`Redis at ${place} refuses the user or the password`)
  if (reason.startsWith('READONLY')) {
    return failed(`Redis at ${place} is a replica, which refuses writes`)
  }
  if (reason.startsWith('NOPERM')) {
    const missing = `The user has no permission for the necessary commands of Redis at ${place}`
    return failed(`${missing} (${missingPermissionIn(reason)})`)
  }
  if (reason.startsWith('ERR DB index')) return failed(`Redis at ${place} has no such database`)
  const code = codeOf(error)
  // The first word of a response is its code.
  const refusal = /^[A-Z]{3,}(?= )/.exec(reason)?.[0]
  if (code === undefined && refusal !== undefined) {
    return failed(`Redis at ${place} refuses commands (${refusal})`)
  }
  const isLate = error === undefined || reason === 'Command timed out'
  const cause = code ?? (isLate ? 'no response' : 'connection closed')
  return failed(`Redis at ${place} cannot be reached (${cause})`)
}

/** Returns the command, `keys` or `channels` that a user must be allowed to use. */
function missingPermissionIn(reason: string): string {
  const command = /'([\w|]+)' command/.exec(reason)?.[1]
  return command ?? (reason.includes('channel') ? 'channels' : 'keys')
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
