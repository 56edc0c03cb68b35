import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Flag, Rollout, TargetingRule } from '@ff/protocol/management'
import type { Storage, StorageSession } from '@ff/storage'
import { sqlite } from '@ff/storage/sqlite'
import { newId } from '../../../server/src/access/secrets.ts'
import { sized } from '../../../server/test/drills/scale.ts'
import { OCCASION } from '../../../server/test/seed.ts'
import { publishAffected } from '../../src/changes/publication.ts'
import { PublishCheck } from '../../src/changes/publish-check.ts'
import { type Tenant, World } from '../world/world.ts'

/** The maximum length of a condition value. */
export const LONGEST_VALUE = 65_536
export const VARIATIONS = 90
const RULES = sized({ full: 490, small: 20 })
const FLAGS = sized({ full: 300, small: 6 })
const LISTED_KEYS = sized({ full: 100_000, small: 500 })
const VERSIONS = sized({ full: 300, small: 3 })
/** The number of flags with a condition value of the maximum length. */
const LONG_CONDITIONS = sized({ full: 100, small: 2 })

const CREATED = '2026-01-01T00:00:00.000Z'
const record = () => ({
  id: newId(),
  createdAt: CREATED,
  updatedAt: CREATED,
  deletedAt: null,
  revision: 1,
})

/** A data file with an environment near the limits. */
export interface LargeEnvironment {
  readonly path: string
  readonly tenant: Tenant
  /** An SDK key of the kind `client` for `live`. */
  readonly sdkKey: string
  /** A flag with many rules, variations and individual targets, and a rollout with 1,000 ranges. */
  readonly flagId: string
  readonly variationIds: readonly string[]
  readonly ruleIds: readonly string[]
  readonly rolloutId: string
  readonly segmentId: string
  readonly otherFlagIds: readonly string[]
}

/** Creates the data file. `clean` deletes it. */
export async function createLargeEnvironment(): Promise<LargeEnvironment & { clean(): unknown }> {
  const folder = await mkdtemp(join(tmpdir(), 'ff-large-'))
  const path = join(folder, 'flags.db')
  const { storage } = sqlite({ path })
  const world = await World.create(storage)
  const tenant = await world.addTenant('Large')
  const ids = await storage.transaction(tenant.orgId, (session) => fill(session, tenant))
  const { key: sdkKey } = await world.management.createSdkKey({
    params: { projectId: tenant.project.id, environmentId: tenant.live.id },
    body: { name: 'drill', kind: 'client', rateLimit: 1_000_000 },
  })
  await addVersions(storage, tenant, ids)
  await storage.close()
  return { ...ids, path, tenant, sdkKey, clean: () => rm(folder, { recursive: true }) }
}

type Ids = Omit<LargeEnvironment, 'path' | 'tenant' | 'sdkKey'>

async function fill(session: StorageSession, tenant: Tenant): Promise<Ids> {
  const segmentId = await addSegment(session, tenant)
  const otherFlagIds: string[] = []
  for (let index = 1; index < FLAGS; index += 1) {
    otherFlagIds.push(await addFlag(session, tenant, index))
  }
  const large = await addLargeFlag(session, tenant, segmentId)
  const { live, staging, project } = tenant
  const added = Array.from({ length: LISTED_KEYS }, (_, index) => `listed-user-${index}`)
  const affected = [live, staging].map(({ id: environmentId }) => {
    return { projectId: project.id, environmentId }
  })
  await publishAffected(session, affected, {
    metadata: async () => OCCASION,
    publishCheck: new PublishCheck(),
  })
  for (const { id } of [live, staging]) {
    const keys = { kind: 'segmentKeys', segmentId, list: 'included', added, removed: [] } as const
    await session.publish(id, [keys], OCCASION)
  }
  return { ...large, segmentId, otherFlagIds }
}

async function addSegment(session: StorageSession, { project }: Tenant): Promise<string> {
  const segment = {
    ...record(),
    projectId: project.id,
    key: 'listed',
    name: 'Listed',
    description: '',
    rules: Array.from({ length: 64 }, (_, index) => {
      return { attribute: 'email', operator: 'ends_with', value: listOf(3000, `s${index}-`) }
    }),
    logicalOp: 'OR' as const,
    force: false,
    keyAttribute: 'user.key',
    includedCount: LISTED_KEYS,
    excludedCount: 0,
  }
  await session.insert('segment', segment)
  return segment.id
}

/** Creates a flag with a rule. Some flags have a condition value of the maximum length. */
async function addFlag(session: StorageSession, tenant: Tenant, index: number): Promise<string> {
  const variations = ['true', 'false']
  const flag = await insertFlag(session, tenant, { key: `flag-${index}`, type: 'boolean' })
  const [variationId = ''] = await insertVariations(session, flag, variations)
  const length = index <= LONG_CONDITIONS ? LONGEST_VALUE : 200
  const operator = index % 2 === 0 ? 'contains' : 'in'
  const value = listOf(length, `f${index}-`)
  await insertRule(session, { tenant, flag, index: 0 }, [{ attribute: 'email', operator, value }], {
    variationId,
  })
  return flag.id
}

async function addLargeFlag(
  session: StorageSession,
  tenant: Tenant,
  segmentId: string,
): Promise<Omit<Ids, 'segmentId' | 'otherFlagIds'>> {
  const flag = await insertFlag(session, tenant, { key: 'large', type: 'json' })
  const values = Array.from({ length: VARIATIONS }, (_, index) => listOf(16_384, `v${index}-`))
  const variationIds = await insertVariations(session, flag, values)
  const rollout = rolloutOf(tenant, flag, variationIds)
  await session.insert('rollout', rollout)
  const ruleIds: string[] = []
  for (let index = 0; index < RULES; index += 1) {
    const conditions = Array.from({ length: 6 }, (_, place) => {
      const operator = place % 2 === 0 ? 'contains' : 'in'
      return { attribute: `a${place}`, operator, value: listOf(2000, `r${index}-${place}-`) }
    })
    const served = { segmentId: index % 10 === 0 ? segmentId : null, rolloutId: rollout.id }
    ruleIds.push(await insertRule(session, { tenant, flag, index }, conditions, served))
  }
  return { flagId: flag.id, variationIds, ruleIds, rolloutId: rollout.id }
}

function rolloutOf(
  { live, project }: Tenant,
  { id: flagId }: Flag,
  variationIds: readonly string[],
): Rollout & { readonly previousRanges: null } {
  const ranges = Array.from({ length: 1000 }, (_, index) => {
    const variationId = variationIds[index % VARIATIONS] ?? ''
    return { variationId, from: index * 100, to: index * 100 + 100 }
  })
  const variants = variationIds.map((variationId) => {
    const own = ranges.filter((range) => range.variationId === variationId)
    return { variationId, weight: own.length / 10 }
  })
  return {
    ...{ ...record(), flagId, environmentId: live.id, projectId: project.id, name: 'split' },
    ...{ strategy: 'variant', bucketBy: 'user.key', salt: 'saltsaltsal', scheme: 'ff' },
    ...{ variationId: null, percentage: null, targetPercentage: null, increment: null },
    ...{ intervalHours: null, startAt: null, variants, ranges, previousRanges: null },
  }
}

async function insertFlag(
  session: StorageSession,
  { project, live, staging }: Tenant,
  fields: Pick<Flag, 'key' | 'type'>,
): Promise<Flag> {
  const flag = {
    ...{ ...record(), ...fields, projectId: project.id, name: fields.key, description: '' },
    ...{ tags: [], clientVisible: true, archivedAt: null, lastEvaluatedAt: null },
    ...{ summary: null, marks: [], unusedSince: record().createdAt },
  }
  await session.insert('flag', flag)
  for (const { id: environmentId } of [live, staging]) {
    await session.insert('flagState', {
      ...{ ...record(), flagId: flag.id, environmentId, projectId: project.id, isActive: true },
      ...{ defaultVariationId: null, offVariationId: null, targets: [], prerequisites: [] },
    })
  }
  return flag
}

async function insertVariations(
  session: StorageSession,
  { id: flagId, projectId }: Flag,
  values: readonly string[],
): Promise<readonly string[]> {
  const variations = values.map((value, orderIndex) => {
    const key = `v${orderIndex}`
    const place = { isDefault: orderIndex === 0, orderIndex }
    return { ...record(), flagId, projectId, key, name: key, description: '', value, ...place }
  })
  for (const variation of variations) await session.insert('variation', variation)
  return variations.map(({ id }) => id)
}

interface RulePlace {
  readonly tenant: Tenant
  readonly flag: Flag
  readonly index: number
}

async function insertRule(
  session: StorageSession,
  { tenant: { live, project }, flag, index }: RulePlace,
  conditions: TargetingRule['conditions'],
  served: Partial<TargetingRule>,
): Promise<string> {
  const rule: TargetingRule = {
    ...{ ...record(), flagId: flag.id, environmentId: live.id, projectId: project.id },
    ...{ name: `rule ${index}`, kind: 'custom', conditions, orderIndex: index },
    ...{ segmentId: null, variationId: null, rolloutId: null, ...served },
  }
  await session.insert('targetingRule', rule)
  return rule.id
}

/** Publishes a few hundred versions, which deactivate and activate the large flag alternately. */
async function addVersions(storage: Storage, { live }: Tenant, { otherFlagIds }: Ids) {
  const flagSet = await storage.loadFlagSet(live.id)
  const flag = flagSet?.flags.find(({ id }) => id === otherFlagIds.at(-1))
  if (flag === undefined) throw new Error('The environment is not published.')
  for (let version = 0; version < VERSIONS; version += 1) {
    const definition = { ...flag, isActive: version % 2 === 0 }
    await storage.publish(live.id, [{ kind: 'flag', id: flag.id, definition }], OCCASION)
  }
  await storage.publish(live.id, [{ kind: 'flag', id: flag.id, definition: flag }], OCCASION)
}

/** Returns a JSON list of texts that start with `prefix`, with at most `length` characters. */
export function listOf(length: number, prefix: string): string {
  const count = Math.floor((length - 2) / (prefix.length + 11))
  const texts = Array.from({ length: count }, (_, index) => {
    return `${prefix}${String(index).padStart(6, '0')}${index % 7}x`
  })
  return JSON.stringify(texts)
}
