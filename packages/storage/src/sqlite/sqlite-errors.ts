import { FlagError } from '@ff/core'
import { dataRefused, keyTaken, unknownField } from '../ports/record-errors.ts'
import { isRefusalOfValues } from './sqlite-connection.js'

/** SQLite's own words; not every driver passes on the code that goes with them. */
const UNIQUE_FAILED = 'UNIQUE constraint failed'

/** Of a statement that names a field that the records do not have. */
const UNKNOWN_COLUMN = ['no such column', 'has no column named']

/** The one place where a driver's error becomes ours. */
export function fromSqliteFailure(message: string): FlagError {
  const cause = new Error(message)
  if (message.includes(UNIQUE_FAILED)) return keyTaken(cause)
  if (isRefusalOfValues(message)) return dataRefused(cause)
  if (UNKNOWN_COLUMN.some((words) => message.includes(words))) return unknownField(cause)
  return new FlagError('UNAVAILABLE', 'The store could not do what was asked of it.', { cause })
}

/** The data file cannot be used at all. */
export function unusableFile(path: string, reason: string): FlagError {
  return new FlagError('UNAVAILABLE', `The data file ${path} cannot be used: ${reason}.`)
}
