import { recordColumns, type TablesOf } from './table.ts'

/** Tables of audit, webhooks, idempotency keys and observed contexts. */
export const ACTIVITY_TABLES: TablesOf<
  | 'auditEvent'
  | 'userSketch'
  | 'auditHead'
  | 'webhook'
  | 'webhookDelivery'
  | 'idempotencyRecord'
  | 'observedContext'
> = {
  auditEvent: {
    name: 'ff_audit_event',
    columns: {
      id: 'text',
      eventType: 'text',
      payload: 'json',
      createdAt: 'text',
      streamId: 'text',
      orgId: 'text',
      projectId: 'text',
      actorId: 'text',
      actor: 'json',
      sequence: 'integer',
      previousHash: 'text',
      hash: 'text',
      position: 'text',
    },
  },
  userSketch: {
    name: 'ff_user_sketch',
    columns: {
      id: 'text',
      environmentId: 'text',
      flagId: 'text',
      hour: 'text',
      instanceId: 'text',
      registers: 'text',
    },
  },
  auditHead: {
    name: 'ff_audit_head',
    columns: { id: 'text', sequence: 'integer', hash: 'text', position: 'text' },
  },
  webhook: {
    name: 'ff_webhook',
    columns: {
      id: 'text',
      orgId: 'text',
      url: 'text',
      eventTypes: 'json',
      isActive: 'boolean',
      failingSince: 'text',
      sealedSecret: 'text',
      ...recordColumns,
    },
  },
  webhookDelivery: {
    name: 'ff_webhook_delivery',
    columns: {
      id: 'text',
      orgId: 'text',
      webhookId: 'text',
      eventId: 'text',
      eventType: 'text',
      status: 'text',
      attempts: 'integer',
      nextAttemptAt: 'text',
      lastStatus: 'integer',
      lastError: 'text',
      durationMs: 'integer',
      createdAt: 'text',
    },
  },
  idempotencyRecord: {
    name: 'ff_idempotency_record',
    columns: {
      id: 'text',
      scope: 'text',
      bodyHash: 'text',
      result: 'json',
      expiresAt: 'text',
      ...recordColumns,
    },
  },
  observedContext: {
    name: 'ff_observed_context',
    columns: {
      id: 'text',
      environmentId: 'text',
      orgId: 'text',
      hash: 'text',
      kind: 'text',
      key: 'text',
      contextJson: 'json',
      firstSeen: 'text',
      lastSeen: 'text',
      seenCount: 'integer',
      evaluationSuccess: 'boolean',
      variationResults: 'text',
      source: 'text',
      deletedAt: 'text',
    },
  },
}
