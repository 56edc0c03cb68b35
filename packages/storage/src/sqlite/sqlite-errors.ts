import { FlagError } from '@ff/core'
import { keyTaken } from '../record-errors.ts'

/** The part of a driver's error that crosses threads. */
export interface SqliteFailure {
  readonly message: string
}

/** SQLite's own words; not every driver passes on the code that goes with them. */
const UNIQUE_FAILED = 'UNIQUE constraint failed'

/** The one place where a driver's error becomes ours. */
export function fromSqliteFailure(failure: SqliteFailure): FlagError {
  const cause = new Error(failure.message)
  if (failure.message.includes(UNIQUE_FAILED)) return keyTaken(cause)
  return new FlagError('UNAVAILABLE', 'The store could not do what was asked of it.', { cause })
}

/** The data file cannot be used at all. */
export function unusableFile(path: string, reason: string): FlagError {
  return new FlagError('UNAVAILABLE', `The data file ${path} cannot be used: ${reason}.`)
}
