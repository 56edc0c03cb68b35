/** How the evaluation endpoints answer every failure. */
export interface SdkErrorBody {
  /** For people: what was wrong. */
  readonly error: string
  /** The HTTP status, repeated. */
  readonly statusCode: number
}
