import { type AuditEventRow, type AuditEventType, auditEvents } from '@ff/protocol/management'
import { newId } from '@ff/server/plane'
import type { StorageSession } from '@ff/storage'
import type { NewAuditEntry } from '../audit/audit-chain.ts'

/** What webhooks can be told of: every change, but no log-ins. */
const TOLD = Object.entries<AuditEventRow>(auditEvents)
  .filter(([, { log }]) => log !== 'logins')
  .map(([type]) => type)

const PATTERNS: ReadonlySet<string> = new Set([
  '*',
  ...TOLD,
  ...TOLD.map((type) => `${resourceOf(type)}.*`),
])

/** Whether there are events that this can match. */
export function isEventPattern(pattern: string): boolean {
  return PATTERNS.has(pattern)
}

/** Whether an event is among those that a webhook is told of. */
export function matchesEvent(type: AuditEventType, patterns: readonly string[]): boolean {
  return patterns.some((each) => each === '*' || each === type || each === `${resourceOf(type)}.*`)
}

/**
 * Writes, in the transaction of a change, to which webhooks it must be told. Answers whether
 * there are any. Costs one look at an index where an organization has no webhooks.
 */
export async function queueDeliveries(
  session: StorageSession,
  { orgId, eventType, createdAt }: NewAuditEntry,
  entryId: () => Promise<string>,
): Promise<boolean> {
  if (orgId === '') return false
  const { data } = await session.list('webhook', { where: { orgId, isActive: true } })
  const told = data.filter(({ eventTypes }) => matchesEvent(eventType, eventTypes))
  const eventId = await entryId()
  for (const { id: webhookId } of told) {
    const untried = { attempts: 0, lastStatus: null, lastError: null, durationMs: null } as const
    const due = { status: 'pending', nextAttemptAt: createdAt, createdAt } as const
    const id = newId()
    await session.insert('webhookDelivery', {
      ...{ id, orgId, webhookId, eventId, eventType },
      ...untried,
      ...due,
    })
  }
  return told.length > 0
}

function resourceOf(type: string): string {
  return type.slice(0, type.indexOf('.'))
}
