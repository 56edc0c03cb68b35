import type { Records } from './records.ts'

/**
 * Selects the webhook deliveries to claim. The caller determines all times, which are timestamps.
 */
export interface DeliveryClaim {
  /** The current time. A pending delivery is due if its `nextAttemptAt` is not later. */
  readonly now: string
  /** The time at which the claim expires, after `now`. */
  readonly expiresAt: string
  /** The maximum number of deliveries, at least 1. */
  readonly limit: number
  /** The maximum number of deliveries in progress to one webhook. */
  readonly limitPerWebhook: number
  /** The number of deliveries that the caller has in progress, by webhook id. */
  readonly inProgress: Readonly<Record<string, number>>
  /** The maximum number of due deliveries to read, at least 1. */
  readonly readLimit: number
  /** The new `nextAttemptAt` of deliveries to webhooks that have reached their limit. */
  readonly postponedTo: string
}

/** Returns the ids of the webhooks that have reached their limit with the claimed deliveries. */
export function webhooksAtLimit(
  { inProgress, limitPerWebhook }: DeliveryClaim,
  claimed: readonly Pick<Records['webhookDelivery'], 'webhookId'>[],
): readonly string[] {
  const counts = new Map(Object.entries(inProgress))
  for (const { webhookId } of claimed) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1)
  return [...counts].filter(([, count]) => count >= limitPerWebhook).map(([id]) => id)
}
