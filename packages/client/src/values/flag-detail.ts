/**
 * The origin of values: a response of the server, the cache, the option `bootstrap`, or the
 * fallbacks of the flags.
 */
export type ValueSource = 'server' | 'cache' | 'bootstrap' | 'fallback'

/**
 * The error of a value:
 *
 * - `PROVIDER_NOT_READY`: the client has no values yet.
 * - `FLAG_NOT_FOUND`: the server does not send the flag to this client.
 * - `TYPE_MISMATCH`: the server sent a value of another type.
 * - `INVALID_CONTEXT`: the last context is not valid. The values belong to the context before it.
 */
export type ClientErrorCode =
  | 'PROVIDER_NOT_READY'
  | 'FLAG_NOT_FOUND'
  | 'TYPE_MISMATCH'
  | 'INVALID_CONTEXT'

/** A value and its origin. */
export interface FlagDetail<Value> {
  /** The value that `FlagClient.value` returns. */
  readonly value: Value
  /** The origin of this value. A value of the option `overrides` has the source `override`. */
  readonly source: ValueSource | 'override'
  /** The version of the flag set of the value; 0 if it is not known. */
  readonly version: number
  /** `ERROR` if there is an error code. */
  readonly reason?: 'ERROR'
  readonly errorCode?: ClientErrorCode
}
