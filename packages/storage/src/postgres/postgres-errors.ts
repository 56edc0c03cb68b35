import { FlagError, isFlagError } from '@ff/core'
import { DatabaseError } from 'pg'
import { dataRefused, keyTaken, storeReadOnly, unknownField } from '../ports/record-errors.ts'
import type { PostgresSettings } from './postgres-settings.ts'
import { placeOf } from './postgres-url.ts'

const UNIQUE_VIOLATION = '23505'
const UNDEFINED_COLUMN = '42703'
const TOO_MANY_CONNECTIONS = '53300'
/** A change on a standby, or in a session with `default_transaction_read_only`. */
const READ_ONLY_TRANSACTION = '25006'

/**
 * The codes of rejected values: the class of data exceptions, a missing value, a violated check,
 * and a value that is too large for an index.
 */
const REFUSED_VALUE = /^(?:22...|23502|23514|54000)$/

/** The codes of transactions that PostgreSQL has ended so that another transaction can continue. */
const SERIALIZATION_FAILURES: readonly unknown[] = ['40001', '40P01']

const REFUSED_LOGIN: readonly unknown[] = ['28P01', '28000']
const UNKNOWN_DATABASE = '3D000'

/** The beginnings of messages of pg. They are checked because these errors have no code. */
const NO_FREE_CONNECTION = 'timeout exceeded when trying to connect'
const FAILED_LOGIN = 'SASL'

/** Translates an error of a statement to a `FlagError`. The cause is the error. */
export function fromPostgresError(error: unknown): FlagError {
  if (isFlagError(error)) return error
  const code = String(codeOf(error))
  if (code === UNIQUE_VIOLATION) return keyTaken(error)
  if (REFUSED_VALUE.test(code)) return dataRefused(error)
  if (code === UNDEFINED_COLUMN) return unknownField(error)
  if (code === READ_ONLY_TRANSACTION) return storeReadOnly(error)
  const message = 'The store could not complete the operation.'
  return new FlagError('UNAVAILABLE', message, { cause: error })
}

/** A connection that could not be opened. */
export interface FailedConnection {
  /** The name of the option with the URL. */
  readonly name: string
  /** The host, the port and the database. */
  readonly place: string
  /** The maximum number of connections and the name of its option. */
  readonly limit?: { readonly name: string; readonly connections: number }
}

/** Creates the error `UNAVAILABLE` for a connection that could not be opened. */
export function connectionFailed(error: unknown, { name, place, limit }: FailedConnection) {
  const code = codeOf(error)
  const reason = reasonOf(error)
  const unavailable = (message: string) => new FlagError('UNAVAILABLE', message, { cause: error })
  if (limit !== undefined && isPoolBusy(error)) {
    return unavailable(`\`${limit.name}\`: none of the ${limit.connections} connections is free.`)
  }
  if (code === TOO_MANY_CONNECTIONS) {
    return unavailable(
      `\`${name}\`: PostgreSQL at ${place} accepts no more connections: increase its \`max_connections\`, or decrease \`readConnections\` and \`writeConnections\`.`,
    )
  }
  if (code === UNKNOWN_DATABASE) {
    return unavailable(`\`${name}\`: The database of ${place} does not exist.`)
  }
  if (REFUSED_LOGIN.includes(code) || reason.startsWith(FAILED_LOGIN)) {
    return unavailable(`\`${name}\`: PostgreSQL at ${place} refuses the user or the password.`)
  }
  const cause = String(code ?? reason)
  return unavailable(`\`${name}\`: PostgreSQL at ${place} cannot be reached (${cause}).`)
}

/** Returns the warning that PostgreSQL permits fewer connections than the options. */
export function fewerConnections(
  { url, readConnections, writeConnections }: PostgresSettings,
  permitted: number,
): string {
  const wanted = readConnections + writeConnections
  return `\`url\`: PostgreSQL at ${placeOf('url', url)} permits fewer connections than \`readConnections\` and \`writeConnections\` (${wanted}): calls wait for one of ${permitted}. Increase \`max_connections\` or the connection limit of the user, or decrease both options.`
}

/** Returns `true` if no connection was opened because PostgreSQL permits no more of them. */
export function isTooMany(failure: unknown): boolean {
  return isFlagError(failure) && codeOf(failure.cause) === TOO_MANY_CONNECTIONS
}

/** Returns `true` if no connection has become free in time. */
export function isPoolBusy(error: unknown): boolean {
  return reasonOf(error).startsWith(NO_FREE_CONNECTION)
}

/** Returns `true` if the transaction can succeed when it runs again. */
export function isSerializationFailure(error: unknown): boolean {
  return SERIALIZATION_FAILURES.includes(codeOf(error))
}

/**
 * Returns `true` if the connection cannot be used after this error. The session of a database that
 * accepts no changes remains read-only when another server has become the primary, or when the
 * setting of the database has changed.
 */
export function endsConnection(error: unknown): boolean {
  if (isReadOnlyTransaction(error)) return true
  return !(error instanceof DatabaseError) || error.severity !== 'ERROR'
}

/** Returns `true` if the database accepts no changes in this session. */
export function isReadOnlyTransaction(error: unknown): boolean {
  return codeOf(error) === READ_ONLY_TRANSACTION
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
