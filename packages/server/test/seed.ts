import type { FlagDefinition, RuleDefinition } from '@ff/core'
import type { Capabilities, DefinitionChange, Records, Storage } from '@ff/storage'
import { hashSecret, newId, newSecret } from '../src/access/secrets.ts'

const CREATED = '2029-12-31T00:00:00.000Z'

const recordFields = { createdAt: CREATED, updatedAt: CREATED, deletedAt: null, revision: 1 }

/** An environment in the store, with an SDK key. */
export interface SeededEnvironment {
  readonly projectId: string
  readonly environmentId: string
  /** An SDK key of kind `client` with the default rate limit. */
  readonly sdkKey: string
}

/**
 * Inserts an organization with one project and two environments, `live` and `staging`. Each
 * environment has an SDK key.
 */
export async function seed(
  storage: Storage,
): Promise<{ orgId: string; live: SeededEnvironment; staging: SeededEnvironment }> {
  await storage.migrate()
  const orgId = newId()
  const projectId = newId()
  await storage.insert('organization', organizationRecord(orgId))
  await storage.insert('project', {
    id: projectId,
    orgId,
    key: 'shop',
    name: 'Shop',
    description: '',
    newFlagsClientVisible: true,
    ...recordFields,
  })
  const live = await addEnvironment(storage, projectId, 'live')
  const staging = await addEnvironment(storage, projectId, 'staging')
  return { orgId, live, staging }
}

/** Inserts an environment with an SDK key. */
export async function addEnvironment(
  storage: Storage,
  projectId: string,
  key: string,
): Promise<SeededEnvironment> {
  const environmentId = newId()
  await storage.insert('environment', {
    id: environmentId,
    projectId,
    key,
    name: key,
    isDefault: key === 'live',
    isProduction: key === 'live',
    commentRequired: false,
    orderIndex: 0,
    contextPrivacy: 'minimal',
    keptAttributes: [],
    keptSince: [],
    ...recordFields,
  })
  const { sdkKey } = await addSdkKey(storage, { projectId, environmentId })
  return { projectId, environmentId, sdkKey }
}

/** Inserts an SDK key for an environment. `changes` overrides fields of its record. */
export async function addSdkKey(
  storage: Storage,
  { projectId, environmentId }: Pick<SeededEnvironment, 'projectId' | 'environmentId'>,
  changes: Partial<Records['sdkKey']> = {},
): Promise<{ id: string; sdkKey: string }> {
  const sdkKey = newSecret('ff_')
  const id = newId()
  await storage.insert('sdkKey', {
    id,
    environmentId,
    projectId,
    name: `key ${id}`,
    kind: 'client',
    prefix: sdkKey.slice(0, 11),
    hash: await hashSecret(sdkKey),
    expiresAt: null,
    revokedAt: null,
    rateLimit: null,
    lastUsedAt: null,
    ...recordFields,
    ...changes,
  })
  return { id, sdkKey }
}

/** Creates a text flag that serves `value` to all contexts unless a rule matches. */
export function textFlag(
  key: string,
  value: string,
  rules: readonly Partial<RuleDefinition>[] = [],
): FlagDefinition {
  return {
    id: `flag-${key}`,
    key,
    type: 'string',
    isActive: true,
    variations: [value, 'other'].map((text) => ({ id: `${key}-${text}`, key: text, value: text })),
    defaultVariationId: `${key}-${value}`,
    offVariationId: null,
    targets: [],
    prerequisites: [],
    rules: rules.map((rule, index) => ({
      id: `rule-${key}-${index}`,
      orderIndex: index,
      createdAt: CREATED,
      conditions: [],
      segmentId: null,
      variationId: `${key}-other`,
      rolloutId: null,
      ...rule,
    })),
    rollouts: [],
  }
}

/**
 * Creates a text flag that serves `other` to a share of contexts that grows by `increment` percent
 * every hour.
 */
export function rampFlag(key: string, startAt: string, increment: number): FlagDefinition {
  return {
    ...textFlag(key, 'base', [{ variationId: null, rolloutId: `rollout-${key}` }]),
    rollouts: [
      {
        id: `rollout-${key}`,
        bucketBy: 'user.key',
        salt: 'saltsaltsal',
        scheme: 'ff',
        strategy: 'gradual',
        variationId: `${key}-other`,
        targetPercentage: 100,
        increment,
        intervalHours: 1,
        startAt,
      },
    ],
  }
}

/** Creates the change that publishes a flag. */
export function flagChange(definition: FlagDefinition): DefinitionChange {
  return { kind: 'flag', id: definition.id, definition }
}

/** The metadata of publications in tests: a fixed time and no event. */
export const OCCASION = { publishedAt: '2026-01-01T00:00:00.000Z', eventId: null }

/**
 * Publishes changes and notifies the change feed, as the management plane does after a commit.
 * Resolves with the version.
 */
export async function publish(
  { storage, changeFeed }: Required<Pick<Capabilities, 'storage' | 'changeFeed'>>,
  environmentId: string,
  ...changes: readonly DefinitionChange[]
): Promise<number> {
  const version = await storage.publish(environmentId, changes, OCCASION)
  await changeFeed.publish({ type: 'flagSet', environmentId, version })
  return version
}

function organizationRecord(id: string): Records['organization'] {
  return {
    id,
    name: 'Shop Ltd',
    billingEmail: null,
    metadata: {},
    planId: null,
    flagCount: 0,
    projectCount: 1,
    environmentCount: 2,
    trialStartsAt: null,
    trialEndsAt: null,
    currentPeriodEnd: null,
    apiUsage: 0,
    hasUsedPaidTrial: false,
    periodStart: null,
    periodDay: null,
    paymentCustomerId: null,
    ...recordFields,
  }
}
