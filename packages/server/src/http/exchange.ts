/**
 * One request, in the neutral form that everything below the platform bindings speaks.
 * `node/http.ts` and `fetch.ts` make it; nothing here knows Node or web streams.
 */
export interface Exchange {
  /** In upper case. */
  readonly method: string
  /** Percent-encoded as it came, below the server's `basePath`, without the query: `/evaluator/evaluate`. */
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
  /** `name` in lower case; several values are joined by a comma. */
  header(name: string): string | undefined
  /**
   * The body, whose JSON the host has parsed already, or whoever asks for it does. Throws
   * `PAYLOAD_TOO_LARGE` beyond `maxBytes`. At once, when all of it has come.
   */
  json(maxBytes: number): JsonBody | Promise<JsonBody>
  /**
   * The body as the bytes that came, for what was signed. Throws as `json` does, and `INTERNAL`
   * when the host has parsed it already and the bytes are gone.
   */
  bytes(maxBytes: number): Promise<Uint8Array>
  /** Where the caller's connection comes from: an IP address; undefined when nobody knows. */
  readonly address: string | undefined
  /** Whether the caller's connection is encrypted. */
  readonly isEncrypted: boolean
  /** Whether a body was sent. */
  readonly hasBody: boolean
  /**
   * Keeps the request for `waiting`, who is told when the caller goes away before the reply has
   * ended; at once if it has gone. What was read of the body is kept no longer.
   */
  hold(waiting: Waiting): void
  /** For whom the request is held, or was held and is handled again; undefined before. */
  readonly waiting?: Waiting | undefined
  /** Has the request handled again, now that it is to be held no longer. */
  resume(): void
}

/** A body that has come as a whole. */
export interface JsonBody {
  /** As they came; undefined when the host has parsed them. */
  readonly bytes: Uint8Array | undefined
  /** Throws `INVALID_REQUEST` for what is not UTF-8 JSON or is empty. */
  parse(): unknown
}

/** Somebody for whom a request is held until there is something to reply. */
export interface Waiting {
  /** The caller has gone. */
  leave(): void
}

/**
 * What comes of handling a request: a reply, or it is held and will be handled again. Held
 * requests are many: as nothing waits for their replies, nothing is kept for each of them on the
 * way that replies take.
 */
export type Outcome = Reply | 'held'

/** What is undefined is not sent. */
export type Headers = Readonly<Record<string, string | undefined>>

/** What is answered; header names in the spelling they are sent in. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The values of `Set-Cookie`, each sent in a header of its own. */
  readonly cookies?: readonly string[]
  /**
   * null: no body, as for 204 and 304. Bytes are sent as they are, so that many replies may share
   * them. Pieces are taken as fast as the caller receives them, and no more once the caller has gone:
   * then their iterator is returned, also if no piece was taken. If they fail, the connection is cut,
   * so that what was sent does not look complete.
   */
  readonly body: string | Uint8Array | null | AsyncIterable<string>
}

/** Gives up a body of which nothing, or nothing more, will be sent. */
export async function leaveBody({ body }: Reply): Promise<void> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return
  await body[Symbol.asyncIterator]().return?.()
}

/** The content type of JSON. */
export const JSON_TYPE = 'application/json; charset=utf-8'

export function jsonReply(status: number, body: unknown, headers: Headers = {}): Reply {
  return {
    status,
    headers: { ...headers, 'Content-Type': JSON_TYPE },
    body: JSON.stringify(body),
  }
}
