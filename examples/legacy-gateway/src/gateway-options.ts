/** The options of `createGateway`. */
export interface GatewayOptions {
  /** The base URL of the flag server, such as `http://127.0.0.1:4400`. */
  readonly target: string
  /** Receives a line for the log. Lines contain no key and no query. */
  readonly warn: (line: string) => void
}
