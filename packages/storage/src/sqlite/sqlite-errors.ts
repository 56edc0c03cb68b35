import { FlagError } from '@ff/core'
import { dataRefused, keyTaken, unknownField } from '../ports/record-errors.ts'

/** The part of a driver's error that crosses threads. */
export interface SqliteFailure {
  readonly message: string
}

/** SQLite's own words; not every driver passes on the code that goes with them. */
const UNIQUE_FAILED = 'UNIQUE constraint failed'
/** Of a value that its column does not take; the thread of a data file knows them as well. */
const DATA_REFUSED = ['constraint failed', 'datatype mismatch', 'string or blob too big']

/** Of a statement that names a field that the records do not have. */
const UNKNOWN_COLUMN = ['no such column', 'has no column named']

/** The one place where a driver's error becomes ours. */
export function fromSqliteFailure(failure: SqliteFailure): FlagError {
  const cause = new Error(failure.message)
  if (failure.message.includes(UNIQUE_FAILED)) return keyTaken(cause)
  if (DATA_REFUSED.some((words) => failure.message.includes(words))) return dataRefused(cause)
  if (UNKNOWN_COLUMN.some((words) => failure.message.includes(words))) return unknownField(cause)
  return new FlagError('UNAVAILABLE', 'The store could not do what was asked of it.', { cause })
}

/** The data file cannot be used at all. */
export function unusableFile(path: string, reason: string): FlagError {
  return new FlagError('UNAVAILABLE', `The data file ${path} cannot be used: ${reason}.`)
}
