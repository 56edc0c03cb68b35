import * as z from 'zod'

/** A fault of one field of a request. */
export interface FieldIssue {
  /** The property name of the field, such as `variations.0.name`; empty for the whole request. */
  readonly path: string
  readonly message: string
}

/** The fields of an `ApiError`. */
export interface ApiErrorDetails {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly issues?: readonly FieldIssue[]
  readonly data?: unknown
  readonly requestId?: string | undefined
  readonly retryAfter?: number | undefined
}

/** The failure of a request to the management API. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /**
   * The `code` in the `data` of the response, such as `COMMENT_REQUIRED`; otherwise the name of the
   * status, such as `CONFLICT`. Without a valid response: `UNREACHABLE`, `TIMEOUT`,
   * `UNEXPECTED_REPLY` or `INVALID_INPUT`.
   */
  readonly code: string
  readonly issues: readonly FieldIssue[]
  /** The `data` of the response, with wire names. */
  readonly data: unknown
  /** The id of the request in the log of the server; `undefined` if there is none. */
  readonly requestId: string | undefined
  /** The number of seconds to wait before a repetition; `undefined` if the server names none. */
  readonly retryAfter: number | undefined

  constructor(details: ApiErrorDetails) {
    super(details.message)
    this.status = details.status
    this.code = details.code
    this.issues = details.issues ?? []
    this.data = details.data
    this.requestId = details.requestId
    this.retryAfter = details.retryAfter
  }

  /** `true` if the server could not be reached, did not respond in time, or is unavailable. */
  get isUnavailable(): boolean {
    return this.code === 'UNREACHABLE' || this.code === 'TIMEOUT' || this.status === 503
  }
}

/** Decodes the `data` of an error, such as the current record of a 409; `undefined` if it is not valid. */
export function errorDataOf<T>(error: unknown, codec: z.ZodType<T>): T | undefined {
  if (!(error instanceof ApiError)) return undefined
  const result = z.safeDecode(codec, error.data as never)
  return result.success ? result.data : undefined
}

/** Returns `true` if the server has answered that a record does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}
