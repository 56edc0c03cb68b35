import { type FlagDefinition, isFlagError } from '@ff/core'
import { expect } from 'vitest'
import type { Kind, Records } from '../ports/records.ts'
import type {
  DefinitionChange,
  PublishedSegment,
  PublishMetadata,
  Storage,
} from '../ports/storage.ts'

/** A fresh and empty store that nothing has been asked of yet, not even `migrate`. */
export interface StorageUnderTest {
  readonly storage: Storage
  /** Closes the store and removes what it kept. */
  readonly close: () => Promise<void>
}

/** Opens a store for one test; it is closed when the test ends. */
export type OpenStorage = () => Promise<Storage>

const CREATED_AT = '2026-03-01T10:20:30.456Z'

/** When and why tests publish, where it does not matter. */
export const METADATA: PublishMetadata = { publishedAt: CREATED_AT, eventId: null }

export function newId(): string {
  return crypto.randomUUID()
}

/** The fields that end a record. */
function ending() {
  return { createdAt: CREATED_AT, updatedAt: CREATED_AT, deletedAt: null, revision: 1 }
}

/** A new, valid record of every kind. */
export const SAMPLES: { readonly [K in Kind]: () => Records[K] } = {
  organization: () => ({
    id: newId(),
    name: 'Acme',
    billingEmail: 'billing@acme.example',
    metadata: { tier: 'gold', nested: { list: [1, null, true] } },
    planId: null,
    flagCount: 3,
    projectCount: 2,
    environmentCount: 4,
    trialStartsAt: CREATED_AT,
    trialEndsAt: null,
    currentPeriodEnd: null,
    apiUsage: 123_456,
    hasUsedPaidTrial: true,
    periodStart: null,
    periodDay: 31,
    paymentCustomerId: null,
    ...ending(),
  }),
  plan: () => ({
    id: newId(),
    name: 'Team',
    maxProjects: 3,
    maxFlags: 100,
    maxEnvironments: null,
    maxApiCalls: 1_000_000_000_000,
    trialDays: 14,
    mostPopular: true,
    productLink: 'https://acme.example/team',
    stripeProductId: 'prod_1',
    stripePriceId: null,
    stripeMonthlyPriceId: null,
    stripeAnnualPriceId: 'price_1',
    overageRateEurCents: 500,
    overageBlockSize: 1000,
    graceBufferPct: 10,
    ...ending(),
  }),
  invoice: () => ({
    id: newId(),
    orgId: newId(),
    stripeInvoiceId: null,
    stripeSubscriptionId: null,
    amountDue: 1500,
    amountPaid: 0,
    currency: 'eur',
    status: 'draft',
    invoicePdf: null,
    hostedInvoiceUrl: null,
    periodStart: CREATED_AT,
    periodEnd: CREATED_AT,
    dueDate: null,
    paidAt: null,
    metadata: { blocks: 3 },
    ...ending(),
  }),
  project: () => ({
    id: newId(),
    orgId: newId(),
    key: 'shop',
    name: 'Shop',
    description: 'What customers see',
    newFlagsClientVisible: true,
    ...ending(),
  }),
  environment: () => ({
    id: newId(),
    projectId: newId(),
    key: 'live',
    name: 'Live',
    isDefault: true,
    contextPrivacy: 'minimal',
    ...ending(),
  }),
  flag: () => ({
    id: newId(),
    projectId: newId(),
    key: 'new-checkout',
    name: 'New checkout',
    description: '',
    type: 'boolean',
    tags: ['shop', 'checkout'],
    clientVisible: true,
    archivedAt: null,
    lastEvaluatedAt: null,
    ...ending(),
  }),
  flagState: () => ({
    id: newId(),
    flagId: newId(),
    environmentId: newId(),
    projectId: newId(),
    isActive: false,
    defaultVariationId: null,
    offVariationId: newId(),
    targets: [{ variationId: newId(), kind: 'user', keys: ['u-1', 'u-2'] }],
    prerequisites: [{ flagId: newId(), variationIds: [newId()] }],
    ...ending(),
  }),
  variation: () => ({
    id: newId(),
    flagId: newId(),
    projectId: newId(),
    key: 'on',
    name: 'On',
    description: '',
    value: 'true',
    isDefault: false,
    orderIndex: 1,
    ...ending(),
  }),
  targetingRule: () => ({
    id: newId(),
    flagId: newId(),
    environmentId: newId(),
    projectId: newId(),
    name: 'Gold customers',
    kind: 'custom',
    conditions: [{ attribute: 'user.plan', operator: 'eq', value: 'gold', negate: true }],
    segmentId: null,
    variationId: newId(),
    rolloutId: null,
    orderIndex: 0,
    ...ending(),
  }),
  segment: () => ({
    id: newId(),
    projectId: newId(),
    key: 'partners',
    name: 'Partners',
    description: '',
    rules: [{ attribute: 'organization.key', operator: 'eq', value: 'acme' }],
    logicalOp: 'OR',
    force: false,
    keyAttribute: 'user.key',
    includedCount: 0,
    excludedCount: 7,
    ...ending(),
  }),
  rollout: () => ({
    id: newId(),
    flagId: newId(),
    environmentId: newId(),
    projectId: newId(),
    name: 'A quarter',
    strategy: 'percentage',
    bucketBy: 'user.key',
    salt: 'aB3dE5gH7jK',
    scheme: 'ff',
    variationId: newId(),
    percentage: 12.345,
    variants: null,
    targetPercentage: null,
    increment: null,
    intervalHours: 0.5,
    startAt: null,
    ranges: [{ variationId: newId(), from: 0, to: 12_345 }],
    previousRanges: [],
    ...ending(),
  }),
  paymentEvent: () => ({
    id: `sub_${newId()}`,
    customerId: 'cus_1',
    eventId: 'evt_1',
    occurredAt: CREATED_AT,
    subject: { type: 'subscription', prices: [{ id: 'price_1', periodEnd: null }] },
    settledEventId: null,
    receivedAt: CREATED_AT,
  }),
  scheduledChange: () => ({
    id: newId(),
    flagId: newId(),
    environmentId: newId(),
    projectId: newId(),
    applyAt: CREATED_AT,
    operation: 'createTargetingRule',
    targetId: null,
    body: { name: 'Everybody' },
    status: 'pending',
    appliedAt: null,
    failure: null,
    createdBy: { id: newId(), email: 'ada@acme.example', name: 'Ada', role: 'editor' },
    ...ending(),
  }),
  sdkKey: () => ({
    id: newId(),
    environmentId: newId(),
    projectId: newId(),
    name: 'Web',
    kind: 'client',
    prefix: 'ff_01234567',
    hash: newId(),
    expiresAt: null,
    revokedAt: null,
    rateLimit: 600,
    lastUsedAt: null,
    ...ending(),
  }),
  accessToken: () => ({
    id: newId(),
    orgId: newId(),
    name: 'Continuous integration',
    role: 'editor',
    prefix: 'ffat_012345',
    hash: newId(),
    expiresAt: null,
    lastUsedAt: null,
    createdBy: 'someone',
    ...ending(),
  }),
  user: () => ({
    id: newId(),
    email: `${newId()}@acme.example`,
    name: 'Ada',
    passwordHash: '$scrypt$ln=17,r=8,p=1$c2FsdA$aGFzaA',
    role: 'platform',
    ...ending(),
  }),
  member: () => ({
    id: newId(),
    userId: newId(),
    orgId: newId(),
    email: 'ada@acme.example',
    name: 'Ada',
    role: 'admin',
    acceptedAt: CREATED_AT,
    linkHash: newId(),
    linkExpiresAt: null,
    ...ending(),
  }),
  identity: () => ({
    id: newId(),
    userId: newId(),
    issuer: `https://${newId()}.example`,
    subject: newId(),
    ...ending(),
  }),
  loginSession: () => ({
    id: newId(),
    hash: newId(),
    userId: newId(),
    method: 'password',
    expiresAt: CREATED_AT,
    lastUsedAt: CREATED_AT,
    ...ending(),
  }),
  auditEvent: () => ({
    id: newId(),
    eventType: 'flag.updated',
    payload: { before: { name: 'a' }, after: { name: 'b' } },
    createdAt: CREATED_AT,
    streamId: 'flag:1',
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
    variationResults: '{"new-checkout":"on"}',
    source: 'poll',
    deletedAt: null,
  }),
  userSketch: () => ({
    id: newId(),
    environmentId: newId(),
    flagId: null,
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

/** A new, valid record with some fields of one's own. */
export function sample<K extends Kind>(kind: K, fields: Partial<Records[K]> = {}): Records[K] {
  return { ...SAMPLES[kind](), ...fields }
}

export function flagDefinition(fields: Partial<FlagDefinition> = {}): FlagDefinition {
  return {
    id: newId(),
    key: 'new-checkout',
    type: 'boolean',
    isActive: true,
    variations: [{ id: 'v-on', key: 'on', value: 'true' }],
    defaultVariationId: 'v-on',
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules: [],
    rollouts: [],
    ...fields,
  }
}

export function publishedSegment(fields: Partial<PublishedSegment> = {}): PublishedSegment {
  return {
    id: newId(),
    key: 'partners',
    rules: [],
    logicalOp: 'AND',
    force: false,
    keyAttribute: 'user.key',
    ...fields,
  }
}

export function flagChange(definition: FlagDefinition): DefinitionChange {
  return { kind: 'flag', id: definition.id, definition }
}

export function segmentChange(definition: PublishedSegment): DefinitionChange {
  return { kind: 'segment', id: definition.id, definition }
}

export function goneFlag(id: string): DefinitionChange {
  return { kind: 'flag', id, definition: null }
}

export function goneSegment(id: string): DefinitionChange {
  return { kind: 'segment', id, definition: null }
}

interface KeysOptions {
  readonly list?: 'included' | 'excluded'
  readonly added?: readonly string[]
  readonly removed?: readonly string[]
}

export function keysChange(segmentId: string, options: KeysOptions): DefinitionChange {
  const { list = 'included', added = [], removed = [] } = options
  return { kind: 'segmentKeys', segmentId, list, added, removed }
}

/** Expects a `FlagError` with this code. */
export async function expectRefusal(work: Promise<unknown>, code: string): Promise<void> {
  const outcome = await work.then(
    (answer) => ({ answer }),
    (error: unknown) => error,
  )
  expect(isFlagError(outcome) ? outcome.code : outcome).toBe(code)
}
