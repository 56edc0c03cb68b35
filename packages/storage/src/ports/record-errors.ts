import { FlagError, isFlagError } from '@ff/core'
import type { Kind } from './records.ts'

/** The error for a record that does not exist, or is deleted. */
export function recordNotFound(kind: Kind, id: string): FlagError {
  return new FlagError('NOT_FOUND', `There is no ${kind} with id ${id}.`)
}

/** The error for an id or a unique key that another record has. */
export function keyTaken(cause?: unknown): FlagError {
  return new FlagError('CONFLICT', 'A record with this id or key already exists.', { cause })
}

/** The schema has no room for such a value. */
export function dataRefused(cause: unknown): FlagError {
  const message = 'The store cannot keep this: a value is missing, too large, or of the wrong type.'
  return new FlagError('INVALID_REQUEST', message, { cause })
}

/** The error for a field that records of the kind do not have. */
export function unknownField(cause: unknown): FlagError {
  return new FlagError('INTERNAL', 'A query or a record names an unknown field.', { cause })
}

/** The error for a record that has another revision than expected. */
export function staleRevision(kind: Kind, id: string): FlagError {
  return new FlagError('CONFLICT', `The ${kind} with id ${id} has been changed meanwhile.`)
}

/** The error for a store that was not migrated. */
export function notMigrated(): FlagError {
  return new FlagError('UNAVAILABLE', 'The store is not ready: migrate() has not been called.')
}

/** The error for a store that was closed. */
export function storeClosed(): FlagError {
  return new FlagError('UNAVAILABLE', 'The store is closed.')
}

/** Whether only this call was refused, for what it asked: its transaction may go on. */
export function isRefusal(error: unknown): boolean {
  return isFlagError(error) && (error.code === 'CONFLICT' || error.code === 'INVALID_REQUEST')
}

/** The error for a session whose transaction has ended. */
export function transactionEnded(): FlagError {
  return new FlagError('INTERNAL', 'A session was used after its transaction had ended.')
}
