import type { WebhookFault } from '@ff/protocol/management'

/** A message, and its URL. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The result of a request. Of the response, only the status is kept. */
export interface WebhookAnswer {
  /** `null` without a response. */
  readonly status: number | null
  /** `null` if the receiver accepted it. */
  readonly fault: WebhookFault | null
}

/** Posts messages to URLs that are not trusted. */
export interface WebhookSender {
  /** Returns why a webhook cannot have this URL, as the end of a message; `undefined` if it can. */
  refusalOf(url: string): string | undefined
  /** Never rejects, and takes a bounded time. */
  send(request: WebhookRequest): Promise<WebhookAnswer>
}
