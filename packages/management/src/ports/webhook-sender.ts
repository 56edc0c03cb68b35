import type { WebhookFault } from '@ff/protocol/management'

/** What is posted, and where to. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** How it went. Of what was answered, nothing but the status is ever told. */
export interface WebhookAnswer {
  /** null when nothing was answered. */
  readonly status: number | null
  /** null when the receiver took it. */
  readonly fault: WebhookFault | null
}

/** Posts messages to addresses that strangers have chosen. */
export interface WebhookSender {
  /** Why this can be no address of a webhook, after its name; undefined when nothing is against it. */
  refusalOf(url: string): string | undefined
  /** Never rejects, and takes a bounded time. */
  send(request: WebhookRequest): Promise<WebhookAnswer>
}
