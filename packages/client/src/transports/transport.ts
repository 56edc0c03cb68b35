/** A request of a subscription, relative to the base URL of the server. */
export interface SubscriptionRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The response to a request of a subscription. The status is 200 or 304. */
export interface SubscriptionResponse extends Pick<FetchResponse, 'status' | 'headers'> {
  /** The parsed JSON, if the status is 200. */
  readonly body: unknown
}

/**
 * The effect of a message or a response:
 *
 * - `current`: the subscription has the state of the server.
 * - `outdated`: the answer belongs to an earlier request, and the subscription needs another one.
 * - `ignored`: no effect, for example because the state is older than that of the subscription.
 * - `invalid`: the content cannot be used.
 */
export type Receipt = 'current' | 'outdated' | 'ignored' | 'invalid'

/**
 * State of the server that a connection keeps current, such as the values of a context. It does not
 * depend on the transport. No method throws.
 */
export interface Subscription {
  /** Returns `true` if the state has changed since the last message or request. */
  isOutdated(): boolean
  /**
   * Returns the message that requests the state on a socket; an empty text if the state must be
   * requested over HTTP. `isFirst` is `true` for the first message of a socket.
   */
  message(isFirst: boolean): string
  /**
   * Returns the request for the state. If `isPoll`, the server responds when the state differs from
   * the state that the subscription has.
   */
  request(isPoll: boolean): SubscriptionRequest
  /** Applies a message of a socket. */
  receive(message: Readonly<Record<string, unknown>>): Receipt
  /** Applies the response to the last request. */
  respond(response: SubscriptionResponse): Receipt
}

/** The part of a response of `fetch` that clients use. */
export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  json(): Promise<unknown>
}

/** The part of `fetch` that clients use. */
export type Fetch = (
  url: string,
  request: {
    readonly method: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly signal?: unknown
    readonly cache?: 'no-store'
    readonly redirect?: 'follow' | 'manual'
  },
) => Promise<FetchResponse>

/** The part of a `WebSocket` that clients use. */
export interface ClientSocket {
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code?: number }) => void) | null
  onerror: (() => void) | null
  send(text: string): void
  close(): void
}

/** The constructor of a `WebSocket`. */
export type ClientSocketConstructor = new (url: string) => ClientSocket

/** Ends a socket or a request. No listener is called afterwards. */
export type Stop = () => void

/** The end of a socket, or the failure of a request. */
export interface End {
  /** The cause, in words. It has no changing parts. */
  readonly problem: string
  /** The status of the response or of an error message, or the close code. */
  readonly code?: unknown
  /** The minimum time until the next attempt, in seconds. */
  readonly retryAfter?: unknown
}

/** Receives the end of a socket, or the failure of a request. */
export type OnEnd = (end: End) => void
