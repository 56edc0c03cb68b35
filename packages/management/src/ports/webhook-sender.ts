import type { WebhookFault } from '@ff/protocol/management'

/** A message and the URL to post it to. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The result of a request. */
export interface WebhookAnswer {
  /** The HTTP status of the response; `null` if there was none. */
  readonly status: number | null
  /** The reason why the delivery failed; `null` if the receiver accepted the message. */
  readonly fault: WebhookFault | null
}

/** Posts messages to untrusted URLs. */
export interface WebhookSender {
  /**
   * Returns the reason why a URL is not allowed for webhooks, such as "is not a URL"; `undefined`
   * if the URL is allowed.
   */
  refusalOf(url: string): string | undefined
  /** Posts a message. The promise is never rejected and resolves within a bounded time. */
  send(request: WebhookRequest): Promise<WebhookAnswer>
}
