import { type As, type ManagementUseCases, SYSTEM } from '@ff/management'
import type { FlagServer } from '@ff/server'
import type { Config } from '../config.ts'
import { DEMO_FLAGS, type DemoFlag, type DemoRollout, type DemoRule } from './demo-flags.ts'
import { DEMO_OWNER, DEMO_PROJECT, DEMO_SEGMENTS } from './demo-shop.ts'

/** The secrets that only the first start prints. */
export interface DemoSecrets {
  /** Absent if the operator has set a token. */
  readonly adminToken?: string
  /** The one-time link of the first owner. Absent if the operator has set an administrator. */
  readonly ownerLink?: string
  readonly sdkKeys: readonly DemoSdkKey[]
}

interface DemoSdkKey {
  readonly key: string
  /** The key of the environment. */
  readonly environment: string
}

/** Requests per minute; high enough for load tests. */
const DEMO_RATE_LIMIT = 600_000

/** Ids by key. */
type Ids = ReadonlyMap<string, string>

interface Shop {
  readonly management: ManagementUseCases
  readonly projectId: string
  readonly environmentIds: readonly string[]
  readonly segments: Ids
  /** The start of all gradual rollouts. */
  readonly startAt: string
  /** The flags created so far, with their variations. */
  readonly flags: Map<string, { readonly id: string; readonly variations: Ids }>
}

/** The path parameters of a flag in one environment. */
interface Place {
  readonly projectId: string
  readonly environmentId: string
  readonly flagId: string
}

/**
 * Fills an empty store with an organization, a project with two environments, and the flags of the
 * demo shop.
 */
export async function createDemo(
  flags: FlagServer<As>,
  { adminToken, administrator }: Pick<Config, 'adminToken' | 'administrator'>,
): Promise<DemoSecrets> {
  await flags.start()
  const management = flags.as(SYSTEM)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Demo Shop' } })
  const { id: projectId, environments } = await management.createProject({
    params: { orgId },
    body: DEMO_PROJECT,
  })
  const shop: Shop = {
    management,
    projectId,
    environmentIds: environments.map(({ id }) => id),
    startAt: new Date().toISOString(),
    segments: await createDemoSegments(management, projectId),
    flags: new Map(),
  }
  for (const demo of DEMO_FLAGS) await createDemoFlag(shop, demo)
  const sdkKeys: DemoSdkKey[] = []
  for (const environment of environments) {
    const params = { projectId, environmentId: environment.id }
    const body = { name: 'Demo', kind: 'client', rateLimit: DEMO_RATE_LIMIT } as const
    const { key } = await management.createSdkKey({ params, body })
    sdkKeys.push({ key, environment: environment.key })
  }
  return {
    sdkKeys,
    ...(adminToken === undefined && { adminToken: await createAdministratorToken(management) }),
    ...(administrator === undefined && { ownerLink: await inviteOwner(management, orgId) }),
  }
}

/** Adds the first owner. Returns the one-time link. */
async function inviteOwner(management: ManagementUseCases, orgId: string): Promise<string> {
  const body = { ...DEMO_OWNER, role: 'owner' } as const
  return (await management.addMember({ params: { orgId }, body })).oneTimeLink
}

async function createAdministratorToken(management: ManagementUseCases): Promise<string> {
  const body = { name: 'Administrator', role: 'platform' } as const
  const { token } = await management.createAccessToken({ params: { orgId: null }, body })
  return token
}

async function createDemoSegments(management: ManagementUseCases, projectId: string): Promise<Ids> {
  const ids = new Map<string, string>()
  for (const { rules, ...segment } of DEMO_SEGMENTS) {
    const body = { ...segment, rules: [...rules] }
    ids.set(segment.key, (await management.createSegment({ params: { projectId }, body })).id)
  }
  return ids
}

async function createDemoFlag(shop: Shop, demo: DemoFlag): Promise<void> {
  const { management, projectId } = shop
  const values = Object.entries(demo.variations ?? { true: 'true', false: 'false' })
  const flag = await management.createFlag({
    params: { projectId },
    body: {
      key: demo.key,
      name: demo.name,
      description: demo.description,
      type: demo.type,
      tags: [...demo.tags],
      variations: values.map(([key, value]) => {
        return { key, value, isDefault: key === demo.defaultVariation }
      }),
    },
  })
  shop.flags.set(demo.key, {
    id: flag.id,
    variations: new Map(flag.variations.map(({ key, id }) => [key, id])),
  })
  for (const environmentId of shop.environmentIds) {
    const place = { projectId, environmentId, flagId: flag.id }
    await updateDemoState(shop, place, demo)
    for (const [orderIndex, rule] of (demo.rules ?? []).entries()) {
      await createDemoRule(shop, place, demo.key, { ...rule, orderIndex })
    }
  }
}

async function updateDemoState(shop: Shop, params: Place, demo: DemoFlag): Promise<void> {
  const { key, isActive, offVariation, prerequisite, target } = demo
  const body = {
    ...(isActive !== undefined && { isActive }),
    ...(offVariation !== undefined && { offVariationId: variationId(shop, key, offVariation) }),
    ...(target !== undefined && {
      targets: [
        {
          variationId: variationId(shop, key, target.variation),
          kind: 'user',
          keys: [...target.keys],
        },
      ],
    }),
    ...(prerequisite !== undefined && {
      prerequisites: [
        {
          flagId: idOf(shop.flags.get(prerequisite.flag)?.id, prerequisite.flag),
          variationIds: [variationId(shop, prerequisite.flag, prerequisite.variation)],
        },
      ],
    }),
  }
  if (Object.keys(body).length > 0) await shop.management.updateFlagState({ params, body })
}

async function createDemoRule(
  shop: Shop,
  params: Place,
  flagKey: string,
  { name, conditions, segment, serve, orderIndex }: DemoRule & { readonly orderIndex: number },
): Promise<void> {
  const served =
    typeof serve === 'string'
      ? { variationId: variationId(shop, flagKey, serve) }
      : { rolloutId: await createDemoRollout(shop, params, flagKey, name, serve) }
  const matched =
    segment === undefined
      ? { kind: 'custom' as const, conditions: [...(conditions ?? [])] }
      : { kind: 'segment' as const, segmentId: idOf(shop.segments.get(segment), segment) }
  const body = { name, orderIndex, ...matched, ...served }
  await shop.management.createTargetingRule({ params, body })
}

async function createDemoRollout(
  shop: Shop,
  params: Place,
  flagKey: string,
  name: string,
  rollout: DemoRollout,
): Promise<string> {
  const body = { name, ...strategyOf(shop, flagKey, rollout) }
  return (await shop.management.createRollout({ params, body })).id
}

function strategyOf(shop: Shop, flagKey: string, rollout: DemoRollout) {
  if ('weights' in rollout) {
    const variants = Object.entries(rollout.weights).map(([key, weight]) => {
      return { variationId: variationId(shop, flagKey, key), weight }
    })
    return { strategy: 'variant', variants } as const
  }
  const served = { variationId: variationId(shop, flagKey, rollout.variation) }
  if ('percentage' in rollout) {
    return { strategy: 'percentage', ...served, percentage: rollout.percentage } as const
  }
  return {
    strategy: 'gradual',
    ...served,
    targetPercentage: 100,
    increment: rollout.growsBy,
    intervalHours: rollout.everyHours,
    startAt: shop.startAt,
  } as const
}

function variationId(shop: Shop, flagKey: string, key: string): string {
  return idOf(shop.flags.get(flagKey)?.variations.get(key), `${flagKey}: ${key}`)
}

function idOf(id: string | undefined, name: string): string {
  if (id === undefined)
    throw new Error(`The demo refers to something that it has not created: ${name}.`)
  return id
}
