import { type AuditEventRow, type AuditEventType, auditEvents } from '@ff/protocol/management'
import { newId } from '@ff/server/plane'
import type { StorageSession } from '@ff/storage'
import type { NewAuditEntry } from './audit-chain.ts'

/** The event types that webhooks receive: every change, but no log-ins. */
export const WEBHOOK_EVENT_TYPES = Object.entries<AuditEventRow>(auditEvents)
  .filter(([, { log }]) => log !== 'logins')
  .map(([type]) => type)

const PATTERNS: ReadonlySet<string> = new Set([
  '*',
  ...WEBHOOK_EVENT_TYPES,
  ...WEBHOOK_EVENT_TYPES.map((type) => `${resourceOf(type)}.*`),
])

/** Returns `true` if a pattern can match an event. */
export function isEventPattern(pattern: string): boolean {
  return PATTERNS.has(pattern)
}

/** Returns `true` if a webhook with these patterns receives the event. */
export function matchesEvent(type: AuditEventType, patterns: readonly string[]): boolean {
  return patterns.some((each) => each === '*' || each === type || each === `${resourceOf(type)}.*`)
}

/**
 * Queues a delivery to each webhook that receives the event, in the transaction of the change.
 * Returns `true` if at least one delivery was queued. An organization without webhooks costs one
 * indexed query.
 */
export async function queueDeliveries(
  session: StorageSession,
  { orgId, eventType, createdAt }: NewAuditEntry,
  entryId: () => Promise<string>,
): Promise<boolean> {
  if (orgId === '') return false
  const { data } = await session.list('webhook', { where: { orgId, isActive: true } })
  const receivers = data.filter(({ eventTypes }) => matchesEvent(eventType, eventTypes))
  const eventId = await entryId()
  for (const { id: webhookId } of receivers) {
    const untried = { attempts: 0, lastStatus: null, lastError: null, durationMs: null } as const
    const due = { status: 'pending', nextAttemptAt: createdAt, createdAt } as const
    const id = newId()
    await session.insert('webhookDelivery', {
      ...{ id, orgId, webhookId, eventId, eventType },
      ...untried,
      ...due,
    })
  }
  return receivers.length > 0
}

function resourceOf(type: string): string {
  return type.slice(0, type.indexOf('.'))
}
