import { isFlagError } from '@ff/core'
import { ConfigError } from './config/config-error.ts'

/** The options of the adapters, and the variables that set them. */
const VARIABLES_OF_OPTIONS: readonly (readonly [RegExp, string])[] = [
  [
    /`url`(?=: (?:Redis|The user has no permission for the necessary commands of Redis))/g,
    'REDIS_URL',
  ],
  [/`path`(?=: The folder)/g, 'FF_SNAPSHOT_DIR'],
  [/`url`/g, 'DATABASE_URL'],
  [/`listenUrl`/g, 'DATABASE_LISTEN_URL or DATABASE_URL'],
  [/`readConnections` and `writeConnections`/g, 'FF_WORKERS or FF_DATABASE_CONNECTIONS'],
  [/`(?:readConnections|writeConnections)`/g, 'FF_DATABASE_CONNECTIONS'],
]

/** What SQLite, PostgreSQL and the system say if no space is left. */
const DISK_IS_FULL = /disk is full|no space left on device/i

/**
 * Returns one line for an expected error, and the stack of another one. `advice` follows an error of
 * the store that names no variable.
 */
export function describeFailure(error: unknown, advice: string): string {
  if (!(error instanceof Error)) return String(error)
  const isExpected = error instanceof ConfigError || 'code' in error
  if (!isExpected) return error.stack ?? error.message
  const { message, cause } = error
  const reason = cause instanceof Error ? cause.message : ''
  const text = withVariables(reason === '' ? message : `${message.replace(/\.$/, '')}: ${reason}.`)
  if (DISK_IS_FULL.test(text)) return `${text} Free some space on the disk.`.replace(/\s+/g, ' ')
  const isComplete = !isFlagError(error) || error.code !== 'UNAVAILABLE' || /DATABASE_/.test(text)
  return (isComplete ? text : `${text} ${advice}`).trim().replace(/\s+/g, ' ')
}

/** Returns a message of an adapter with the names of the variables instead of those of its options. */
export function withVariables(message: string): string {
  return VARIABLES_OF_OPTIONS.reduce(
    (text, [option, variable]) => text.replaceAll(option, variable),
    message,
  )
}
