/** All error codes of the system. */
export type FlagErrorCode =
  | 'INVALID_REQUEST'
  | 'INVALID_CONTEXT'
  | 'INVALID_DEFINITION'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'QUOTA_EXCEEDED'
  | 'RATE_LIMITED'
  | 'PAYLOAD_TOO_LARGE'
  | 'METHOD_NOT_ALLOWED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'UNAVAILABLE'
  | 'INTERNAL'

/** A fault in the input of a caller. */
export interface Issue {
  /** The path of the fault in the input: field names and indexes, joined by dots. */
  readonly path: string
  readonly message: string
}

/** The optional parts of a `FlagError`. */
export interface FlagErrorOptions {
  /** JSON for the caller: `{ issues }` for invalid input, the current record for a conflict. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

const BRAND = Symbol.for('@ff/core/FlagError')

/** The only error class of the system. The message and the details can be shown to a caller. */
export class FlagError extends Error {
  override readonly name = 'FlagError'
  readonly code: FlagErrorCode
  readonly details: Readonly<Record<string, unknown>> | null
  readonly [BRAND] = true

  constructor(code: FlagErrorCode, message: string, options: FlagErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details ?? null
  }
}

/** Returns `true` for a `FlagError`, also for one that another copy of this package created. */
export function isFlagError(error: unknown): error is FlagError {
  return typeof error === 'object' && error !== null && BRAND in error
}
