/** The headers that a use case adds to its reply. */
interface AddedHeaders {
  /** By name, as sent. */
  readonly headers?: Readonly<Record<string, string>>
  /** The values of `Set-Cookie`, each sent in a header of its own. */
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
