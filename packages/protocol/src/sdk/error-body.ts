/** How the evaluation endpoints answer every failure. */
export interface SdkErrorBody {
  /** A description for humans. */
  readonly error: string
  /** The HTTP status, repeated. */
  readonly statusCode: number
}
