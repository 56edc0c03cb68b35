import { randomUUID } from 'node:crypto'
import type { FlagDefinition, RolloutDefinition, RuleDefinition, SegmentDefinition } from '@ff/core'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import type { DefinitionChange, Records, StorageSession } from '@ff/storage'
import { toFlagDefinition, toPublishedSegment } from '@ff/storage'
import { sqlite } from '@ff/storage/sqlite'
import { manyFlags } from '../../../core/bench/workload.ts'

/** The credentials and ids in the data file that the load uses. */
export interface Shop {
  readonly token: string
  readonly sdkKey: string
  readonly projectId: string
  readonly environmentId: string
  readonly flags: readonly { readonly id: string; readonly ruleId: string }[]
}

const NOW = '2026-01-01T00:00:00.000Z'
const frame = { createdAt: NOW, updatedAt: NOW, deletedAt: null, revision: 1 }

/**
 * Creates a data file with an environment of `flagCount` flags, each with six rules and a rollout.
 */
export async function fillShop(path: string, flagCount: number): Promise<Shop> {
  const { storage, ...rest } = sqlite({ path })
  const flags = createFlagServer({ storage, ...rest, management: createManagement() })
  await flags.start()
  const management = flags.as({
    id: 'bench',
    email: '',
    name: 'Bench',
    role: 'platform',
    orgId: null,
  })
  const { id: orgId } = await management.createOrganization({ body: { name: 'Bench' } })
  const params = { orgId }
  const project = await management.createProject({ params, body: { key: 'shop' } })
  const projectId = project.id
  const environmentId = project.environments[0]?.id ?? ''
  const { token } = await management.createAccessToken({
    params,
    body: { name: 'bench', role: 'editor' },
  })
  const { key: sdkKey } = await management.createSdkKey({
    params: { projectId, environmentId },
    body: { name: 'bench', kind: 'client', rateLimit: 1_000_000 },
  })
  const filled = await storage.transaction(orgId, (session) =>
    fill(session, { projectId, environmentId, flagCount }),
  )
  await flags.close()
  return { token, sdkKey, projectId, environmentId, flags: filled }
}

interface Place {
  readonly projectId: string
  readonly environmentId: string
}

async function fill(
  session: StorageSession,
  { flagCount, ...place }: Place & { readonly flagCount: number },
): Promise<Shop['flags']> {
  const workload = withUuids(manyFlags(flagCount))
  const changes: DefinitionChange[] = []
  for (const segment of workload.segments) {
    const record = segmentRecord(segment, place)
    await session.insert('segment', record)
    changes.push({ kind: 'segment', id: record.id, definition: toPublishedSegment(record) })
  }
  for (const flag of workload.flags) changes.push(await insertFlag(session, flag, place))
  await session.publish(place.environmentId, changes, { publishedAt: NOW, eventId: null })
  return workload.flags.map(({ id, rules }) => ({ id, ruleId: rules[0]?.id ?? '' }))
}

/** Replaces the readable ids of the workload by UUIDs, because records have UUIDs. */
function withUuids<T>(workload: T): T {
  const ids = new Map<string, string>()
  const text = JSON.stringify(workload).replace(
    /"(?:v\d+-\d|rollout-\d+|segment-\d+)"/g,
    (name) => {
      const id = ids.get(name) ?? `"${randomUUID()}"`
      ids.set(name, id)
      return id
    },
  )
  return JSON.parse(text) as T
}

async function insertFlag(
  session: StorageSession,
  definition: FlagDefinition,
  place: Place,
): Promise<DefinitionChange> {
  const { id, key, type } = definition
  const { projectId } = place
  const here = { flagId: id, ...place }
  const flag = { id, projectId, key, name: key, description: '', type, tags: [], ...frame }
  const usage = { archivedAt: null, lastEvaluatedAt: null, unusedSince: NOW }
  const record = { ...flag, clientVisible: true, ...usage, summary: null, marks: [] }
  const state = { id: randomUUID(), ...here, isActive: true, ...frame, ...NO_SETTINGS }
  const variations = definition.variations.map((variation, orderIndex) => ({
    ...variation,
    ...{ flagId: id, projectId, name: variation.key, description: '', orderIndex, ...frame },
    isDefault: variation.id === definition.defaultVariationId,
  }))
  const rules = definition.rules.map((rule) => ruleRecord(rule, here))
  const rollouts = definition.rollouts.map((rollout) => rolloutRecord(rollout, here))
  await session.insert('flag', record)
  await session.insert('flagState', state)
  for (const variation of variations) await session.insert('variation', variation)
  for (const rule of rules) await session.insert('targetingRule', rule)
  for (const rollout of rollouts) await session.insert('rollout', rollout)
  const parts = { flag: record, state, variations, rules, rollouts }
  return { kind: 'flag', id, definition: toFlagDefinition(parts) }
}

const NO_SETTINGS = {
  defaultVariationId: null,
  offVariationId: null,
  targets: [],
  prerequisites: [],
}

type Here = Place & { readonly flagId: string }

function ruleRecord(rule: RuleDefinition, here: Here): Records['targetingRule'] {
  const kind = rule.segmentId === null ? 'custom' : 'segment'
  const conditions = rule.conditions as Records['targetingRule']['conditions']
  return { ...rule, ...here, ...frame, conditions, kind, name: 'Rule' }
}

function rolloutRecord(rollout: RolloutDefinition, here: Here): Records['rollout'] {
  if (rollout.strategy === 'gradual')
    throw new Error('The workload must not have gradual rollouts.')
  const ranges = rollout.ranges.map((range) => ({ ...range }))
  const variants = ranges.map(({ variationId, from, to }) => {
    return { variationId, weight: (to - from) / 1000 }
  })
  const unused = { variationId: null, percentage: null, targetPercentage: null, increment: null }
  return {
    ...{ ...rollout, ...here, ...frame, ...unused, ranges, variants, name: 'Rollout' },
    ...{ intervalHours: null, startAt: null, previousRanges: null },
  }
}

function segmentRecord(segment: SegmentDefinition, { projectId }: Place): Records['segment'] {
  const { id, key, logicalOp, force, keyAttribute } = segment
  const rules = segment.rules as Records['segment']['rules']
  const counts = { includedCount: 0, excludedCount: 0 }
  const named = { id, projectId, key: `segment-${id}`, name: key, description: '' }
  return { ...named, rules, logicalOp, force, keyAttribute, ...counts, ...frame }
}
