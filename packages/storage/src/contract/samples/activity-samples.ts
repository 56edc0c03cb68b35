import { CREATED_AT, ending, newId, type SamplesOf } from './sample-fields.ts'

/** Functions that create sample records of audit, webhooks, idempotency keys and usage. */
export const ACTIVITY_SAMPLES: SamplesOf<
  | 'auditEvent'
  | 'observedContext'
  | 'userSketch'
  | 'auditHead'
  | 'webhook'
  | 'webhookDelivery'
  | 'idempotencyRecord'
> = {
  auditEvent: () => ({
    id: newId(),
    eventType: 'flag.updated',
    payload: { before: { name: 'a' }, after: { name: 'b' } },
    createdAt: CREATED_AT,
    streamId: 'flag:1',
    comment: 'Rename it',
    orgId: newId(),
    projectId: '',
    actorId: 'someone',
    actor: { id: 'someone', email: '', name: 'Someone', role: 'admin' },
    sequence: 7,
    previousHash: '',
    hash: 'a1b2',
    position: `${CREATED_AT} 000000000007`,
  }),
  observedContext: () => ({
    id: newId(),
    environmentId: newId(),
    orgId: newId(),
    hash: newId(),
    kind: 'user',
    key: 'u-1',
    contextJson: { kind: 'user', key: 'u-1', plan: 'gold', seats: [3, null, true] },
    firstSeen: CREATED_AT,
    lastSeen: CREATED_AT,
    seenCount: 3,
    evaluationSuccess: false,
    source: 'poll',
    reducedBy: 4,
    settingsRevision: 2,
    deletedAt: null,
  }),
  userSketch: () => ({
    id: newId(),
    environmentId: newId(),
    flagId: null,
    keyKind: 'client',
    firstVersion: 4,
    lastVersion: 6,
    hour: '2026-03-01T10:00:00.000Z',
    instanceId: newId(),
    registers: 'AAAB',
  }),
  auditHead: () => ({
    id: newId(),
    sequence: 7,
    hash: 'a1b2',
    position: `${CREATED_AT} 000000000007`,
  }),
  webhook: () => ({
    id: newId(),
    orgId: newId(),
    url: 'https://hooks.acme.example/flags?team=shop',
    eventTypes: ['flag.updated', 'segment.*'],
    isActive: true,
    failingSince: null,
    sealedSecret: 'v1.0a1b2c3d.c2VhbGVk',
    ...ending(),
  }),
  webhookDelivery: () => ({
    id: newId(),
    orgId: newId(),
    webhookId: newId(),
    eventId: newId(),
    eventType: 'flag.updated',
    status: 'pending',
    attempts: 1,
    nextAttemptAt: CREATED_AT,
    lastStatus: 503,
    lastError: 'status',
    durationMs: null,
    createdAt: CREATED_AT,
  }),
  idempotencyRecord: () => ({
    id: newId(),
    scope: newId(),
    bodyHash: newId(),
    result: { id: newId(), key: null },
    expiresAt: CREATED_AT,
    ...ending(),
  }),
}
