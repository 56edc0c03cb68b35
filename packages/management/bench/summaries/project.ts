import { randomUUID } from 'node:crypto'
import type { FlagServer } from '@ff/server'
import type { Records, Storage, StorageSession } from '@ff/storage'
import type { As } from '../../src/create-management.ts'

/** A project with flags in three environments, and a token that may read and change them. */
export interface Project {
  readonly id: string
  readonly environmentIds: readonly string[]
  readonly flagIds: readonly string[]
  readonly token: string
}

const NOW = '2026-01-01T00:00:00.000Z'
const frame = { createdAt: NOW, updatedAt: NOW, deletedAt: null, revision: 1 }
const KEYS = Array.from({ length: 20 }, (_, index) => `user-${index}`)

/** Creates a project with three environments and `count` flags, as an earlier release left them. */
export async function createProject(
  flags: FlagServer<As>,
  storage: Storage,
  count: number,
): Promise<Project> {
  const as = flags.as({ id: 'b', email: '', name: 'Bench', role: 'platform', orgId: null })
  const { id: orgId } = await as.createOrganization({ body: { name: 'Bench' } })
  const project = await as.createProject({ params: { orgId }, body: { key: 'shop' } })
  const projectId = project.id
  const third = await as.createEnvironment({ params: { projectId }, body: { key: 'test' } })
  const environmentIds = [...project.environments.map(({ id }) => id), third.id]
  const { token } = await as.createAccessToken({
    params: { orgId },
    body: { name: 'bench', role: 'admin' },
  })
  const flagIds = Array.from({ length: count }, () => randomUUID())
  await storage.transaction(orgId, async (session) => {
    for (const [index, id] of flagIds.entries()) {
      await insertFlag(session, { id, projectId, environmentIds, index })
    }
  })
  return { id: projectId, environmentIds, flagIds, token }
}

interface NewFlag {
  readonly id: string
  readonly projectId: string
  readonly environmentIds: readonly string[]
  readonly index: number
}

async function insertFlag(session: StorageSession, flag: NewFlag): Promise<void> {
  const { id: flagId, projectId, index } = flag
  await session.insert('flag', {
    ...{ id: flagId, projectId, key: `flag-${index}`, name: `Flag number ${index % 997}` },
    ...{ description: `What the flag ${index} changes`, type: 'boolean', clientVisible: true },
    ...{ tags: [`team-${index % 12}`, 'web'], archivedAt: null, lastEvaluatedAt: null },
    ...{ summary: null, marks: [], unusedSince: NOW, ...frame },
  })
  const variations = [true, false].map((value, orderIndex) => ({
    ...{ id: randomUUID(), flagId, projectId, key: `${value}`, name: `${value}`, orderIndex },
    ...{ description: '', value: `${value}`, isDefault: !value, ...frame },
  }))
  for (const variation of variations) await session.insert('variation', variation)
  for (const environmentId of flag.environmentIds) {
    const place = { flagId, environmentId, projectId }
    await insertConfiguration(session, place, { index, variationId: variations[0]?.id ?? '' })
  }
}

async function insertConfiguration(
  session: StorageSession,
  place: Pick<Records['flagState'], 'flagId' | 'environmentId' | 'projectId'>,
  { index, variationId }: { readonly index: number; readonly variationId: string },
): Promise<void> {
  const targets = [{ variationId, kind: 'user', keys: KEYS }]
  await session.insert('flagState', {
    ...{ id: randomUUID(), ...place, isActive: index % 5 > 0, defaultVariationId: null },
    ...{ offVariationId: null, targets, prerequisites: [], ...frame },
  })
  const rolloutId = randomUUID()
  const percentage = index % 100
  const to = percentage * 1000
  await session.insert('rollout', {
    ...{ id: rolloutId, ...place, name: 'Share', strategy: 'percentage', bucketBy: 'user.key' },
    ...{ salt: 'salt', scheme: 'ff', variationId, percentage, variants: null, ...frame },
    ...{ targetPercentage: null, increment: null, intervalHours: null, startAt: null },
    ...{ ranges: [{ variationId, from: 0, to }], previousRanges: null },
  })
  for (let orderIndex = 0; orderIndex < 2; orderIndex += 1) {
    const value = Array.from({ length: 10 }, (_, item) => `country-${item}`).join(',')
    const served =
      orderIndex === 0 ? { variationId, rolloutId: null } : { variationId: null, rolloutId }
    await session.insert('targetingRule', {
      ...{ id: randomUUID(), ...place, name: `Rule ${orderIndex}`, kind: 'custom', orderIndex },
      ...{ conditions: [{ attribute: 'user.country', operator: 'in', value }], segmentId: null },
      ...{ ...served, ...frame },
    })
  }
}

/** Copies all configuration from one store to another, which is empty. */
export async function copyStore(from: Storage, to: Storage): Promise<void> {
  for (const kind of ['organization', 'project', 'environment', 'accessToken', 'flag'] as const) {
    for (const record of (await from.list(kind, {})).data) await to.insert(kind, record)
  }
}
