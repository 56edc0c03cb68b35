import { compareCodePoints } from '@ff/core'
import { type DeliveryClaim, webhooksAtLimit } from '../ports/delivery-claim.ts'
import type { Records } from '../ports/records.ts'

type Delivery = Records['webhookDelivery']

/** The due deliveries that a call of `claimDeliveries` changes. */
interface DueDeliveries {
  readonly claimed: readonly Delivery[]
  readonly postponed: readonly Delivery[]
}

/** Selects the deliveries that a claim takes, and those that it postpones. */
export function dueDeliveries(deliveries: Iterable<Delivery>, claim: DeliveryClaim): DueDeliveries {
  const { now, limit, limitPerWebhook, inProgress, readLimit } = claim
  const isDue = (each: Delivery) => each.status === 'pending' && dueAt(each) <= now
  const due = [...deliveries].filter(isDue).sort(byDueTime)
  const counts = new Map(Object.entries(inProgress))
  const claimed = new Set<Delivery>()
  for (const delivery of due.slice(0, readLimit)) {
    const count = counts.get(delivery.webhookId) ?? 0
    if (claimed.size >= limit || count >= limitPerWebhook) continue
    claimed.add(delivery)
    counts.set(delivery.webhookId, count + 1)
  }
  const full = new Set(webhooksAtLimit(claim, [...claimed]))
  const rest = due.filter((each) => !claimed.has(each)).slice(0, readLimit)
  const postponed = rest.filter(({ webhookId }) => full.has(webhookId))
  return { claimed: [...claimed], postponed }
}

/** Returns the time of the next attempt; a text after every timestamp if there is none. */
function dueAt({ nextAttemptAt }: Delivery): string {
  return nextAttemptAt ?? '~'
}

function byDueTime(left: Delivery, right: Delivery): number {
  return compareCodePoints(`${dueAt(left)} ${left.id}`, `${dueAt(right)} ${right.id}`)
}
