import { FlagError, isFlagError } from '@ff/core'
import type { Kind } from './records.ts'

/** Creates the error `NOT_FOUND` for a record that does not exist or is deleted. */
export function recordNotFound(kind: Kind, id: string): FlagError {
  return new FlagError('NOT_FOUND', `There is no ${kind} with id ${id}.`)
}

/** Creates the error `CONFLICT` for an id or a unique key that another record already has. */
export function keyTaken(cause?: unknown): FlagError {
  return new FlagError('CONFLICT', 'A record with the same id or key already exists.', { cause })
}

/** Creates the error `INVALID_REQUEST` for a value that the database does not accept. */
export function dataRefused(cause: unknown): FlagError {
  const message = 'A value to store is missing, too large, or of the wrong type.'
  return new FlagError('INVALID_REQUEST', message, { cause })
}

/** Creates the error `INTERNAL` for a field that records of the kind do not have. */
export function unknownField(cause: unknown): FlagError {
  return new FlagError('INTERNAL', 'A query or a record contains an unknown field.', { cause })
}

/** Creates the error `CONFLICT` for a record with an unexpected revision. */
export function staleRevision(kind: Kind, id: string): FlagError {
  return new FlagError('CONFLICT', `The ${kind} with id ${id} has been changed in the meantime.`)
}

/** Creates the error `UNAVAILABLE` for a store on which `migrate` has not been called. */
export function notMigrated(): FlagError {
  return new FlagError('UNAVAILABLE', 'The store is not ready: call `migrate()` first.')
}

const READ_ONLY = 'read_only'

/** Creates the error `UNAVAILABLE` for a change of a database that accepts none at the moment. */
export function storeReadOnly(cause: unknown): FlagError {
  const message = 'The store accepts no changes, because its database is read-only.'
  return new FlagError('UNAVAILABLE', message, { cause, details: { reason: READ_ONLY } })
}

/** Returns `true` if an error is that of a change of a database that accepts none at the moment. */
export function isReadOnly(error: unknown): boolean {
  return isFlagError(error) && error.details?.['reason'] === READ_ONLY
}

/** Creates the error `UNAVAILABLE` for a store that is closed. */
export function storeClosed(): FlagError {
  return new FlagError('UNAVAILABLE', 'The store is closed.')
}

/**
 * Returns `true` if the error rejects the input of a single call, so that the transaction remains
 * usable.
 */
export function isRefusal(error: unknown): boolean {
  return isFlagError(error) && (error.code === 'CONFLICT' || error.code === 'INVALID_REQUEST')
}

/** Creates the error `INTERNAL` for a session that is used after the end of its transaction. */
export function transactionEnded(): FlagError {
  return new FlagError('INTERNAL', 'The session cannot be used after its transaction has ended.')
}
