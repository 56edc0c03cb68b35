/** The headers that a use case adds to the response. */
interface AddedHeaders {
  /** Values by header name. */
  readonly headers?: Readonly<Record<string, string>>
  /** The values of `Set-Cookie`, each of which is sent in a separate header. */
  readonly cookies?: readonly string[]
}

/** A result with additional headers, such as cookies or the location of a redirect. */
export class WithHeaders<T> {
  readonly result: T
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]

  constructor(result: T, { headers = {}, cookies = [] }: AddedHeaders = {}) {
    this.result = result
    this.headers = headers
    this.cookies = cookies
  }
}
