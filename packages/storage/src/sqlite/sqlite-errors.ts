import { FlagError } from '@ff/core'
import { dataRefused, keyTaken, unknownField } from '../ports/record-errors.ts'
import { isRefusalOfValues } from './sqlite-connection.js'

/** Part of SQLite's message. The message is checked because not every driver has error codes. */
const UNIQUE_FAILED = 'UNIQUE constraint failed'

/** Parts of SQLite's messages for a statement with an unknown column. */
const UNKNOWN_COLUMN = ['no such column', 'has no column named']

/** Translates the message of a driver error to a `FlagError`. The cause contains the message. */
export function fromSqliteFailure(message: string): FlagError {
  const cause = new Error(message)
  if (message.includes(UNIQUE_FAILED)) return keyTaken(cause)
  if (isRefusalOfValues(message)) return dataRefused(cause)
  if (UNKNOWN_COLUMN.some((words) => message.includes(words))) return unknownField(cause)
  return new FlagError('UNAVAILABLE', 'The store could not complete the operation.', { cause })
}

/** Creates the error `UNAVAILABLE` for a data file that cannot be opened. */
export function unusableFile(path: string, reason: string): FlagError {
  return new FlagError('UNAVAILABLE', `The data file ${path} cannot be used: ${reason}.`)
}
