/** Every way an operation of this system can be refused or can fail. */
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

/** One fault in what a caller sent: where it is (in the caller's own spelling) and what is wrong. */
export interface Issue {
  readonly path: string
  readonly message: string
}

export interface FlagErrorOptions {
  /** Plain JSON for the caller: `{ issues }` for bad input, the current record for a conflict. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

const BRAND = Symbol.for('@ff/core/FlagError')

/** The one error class of the system. Its message is safe to show to a caller. */
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

/** Recognises a `FlagError`, also one that another copy of this package made. */
export function isFlagError(error: unknown): error is FlagError {
  return typeof error === 'object' && error !== null && BRAND in error
}
