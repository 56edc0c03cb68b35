import { randomUUID } from 'node:crypto'
import type {
  FlagDefinition,
  FlagSetDefinition,
  RolloutDefinition,
  RuleDefinition,
  SegmentDefinition,
} from '@ff/core'
import type { DefinitionChange, Records, StorageSession } from '@ff/storage'
import { toFlagDefinition, toPublishedSegment } from '@ff/storage'

const NOW = '2026-01-01T00:00:00.000Z'
const frame = { createdAt: NOW, updatedAt: NOW, deletedAt: null, revision: 1 }

/** The environments of a project that have the same flags. */
export interface Place {
  readonly projectId: string
  readonly environmentIds: readonly string[]
}

/**
 * Inserts the flags and segments of a workload in an empty project, and publishes them in its
 * environments. Segments have no listed keys.
 */
export async function insertWorkload(
  session: StorageSession,
  workload: Pick<FlagSetDefinition, 'flags' | 'segments'>,
  place: Place,
): Promise<void> {
  const segments: DefinitionChange[] = []
  for (const segment of workload.segments) {
    const record = segmentRecord(segment, place)
    await session.insert('segment', record)
    segments.push({ kind: 'segment', id: record.id, definition: toPublishedSegment(record) })
  }
  const parts: FlagParts[] = []
  for (const flag of workload.flags) parts.push(await insertFlag(session, flag, place))
  for (const environmentId of place.environmentIds) {
    const changes = [...segments]
    for (const flag of parts) changes.push(await insertConfiguration(session, flag, environmentId))
    await session.publish(environmentId, changes, { publishedAt: NOW, eventId: null })
  }
}

interface Workload {
  readonly flags: readonly { readonly id: string }[]
}

/**
 * Replaces the ids of flags, and the readable ids of a workload, by random UUIDs. Records have UUIDs,
 * and the pseudo-random ids of two workloads can be the same.
 */
export function withUuids<T extends Workload>(workload: T): T {
  const ids = new Map(workload.flags.map(({ id }): [string, string] => [id, randomUUID()]))
  const text = JSON.stringify(workload)
    .replace(/\b(?:v\d+-\d|rollout-\d+|segment-\d+)\b/g, (name) => {
      const id = ids.get(name) ?? randomUUID()
      ids.set(name, id)
      return id
    })
    .replace(/"[0-9a-f-]{36}"/g, (quoted) => {
      const id = ids.get(quoted.slice(1, -1))
      return id === undefined ? quoted : `"${id}"`
    })
  return JSON.parse(text) as T
}

interface FlagParts {
  readonly definition: FlagDefinition
  readonly flag: Records['flag']
  readonly variations: readonly Records['variation'][]
}

async function insertFlag(
  session: StorageSession,
  definition: FlagDefinition,
  { projectId }: Place,
): Promise<FlagParts> {
  const { id, key, type } = definition
  const named = { id, projectId, key, name: key, description: '', type, tags: [], ...frame }
  const usage = { archivedAt: null, lastEvaluatedAt: null, unusedSince: NOW }
  const flag = { ...named, clientVisible: true, ...usage, summary: null, marks: [] }
  const variations = definition.variations.map((variation, orderIndex) => ({
    ...variation,
    ...{ flagId: id, projectId, name: variation.key, description: '', orderIndex, ...frame },
    isDefault: variation.id === definition.defaultVariationId,
  }))
  await session.insert('flag', flag)
  for (const variation of variations) await session.insert('variation', variation)
  return { definition, flag, variations }
}

/** Inserts the configuration of a flag in an environment. Its rules and rollouts receive new ids. */
async function insertConfiguration(
  session: StorageSession,
  { definition, flag, variations }: FlagParts,
  environmentId: string,
): Promise<DefinitionChange> {
  const here = { flagId: flag.id, projectId: flag.projectId, environmentId }
  const { isActive, offVariationId, targets, prerequisites } = definition
  const state = {
    ...{ id: randomUUID(), ...here, isActive, defaultVariationId: null, offVariationId, ...frame },
    targets: targets.map((target) => ({ ...target, keys: [...target.keys] })),
    prerequisites: prerequisites.map(({ flagId, variationIds }) => {
      return { flagId, variationIds: [...variationIds] }
    }),
  }
  const rolloutIds = new Map(definition.rollouts.map(({ id }) => [id, randomUUID()]))
  const rules = definition.rules.map((rule) => {
    const rolloutId = rule.rolloutId === null ? null : (rolloutIds.get(rule.rolloutId) ?? null)
    return ruleRecord({ ...rule, id: randomUUID(), rolloutId }, here)
  })
  const rollouts = definition.rollouts.map((rollout) =>
    rolloutRecord({ ...rollout, id: rolloutIds.get(rollout.id) ?? '' }, here),
  )
  await session.insert('flagState', state)
  for (const rule of rules) await session.insert('targetingRule', rule)
  for (const rollout of rollouts) await session.insert('rollout', rollout)
  const parts = { flag, state, variations, rules, rollouts }
  return { kind: 'flag', id: flag.id, definition: toFlagDefinition(parts) }
}

type Here = Pick<Records['flagState'], 'flagId' | 'projectId' | 'environmentId'>

function ruleRecord(rule: RuleDefinition, here: Here): Records['targetingRule'] {
  const kind = rule.segmentId === null ? 'custom' : 'segment'
  const conditions = rule.conditions as Records['targetingRule']['conditions']
  return { ...rule, ...here, ...frame, conditions, kind, name: 'Rule' }
}

function rolloutRecord(rollout: RolloutDefinition, here: Here): Records['rollout'] {
  const { id, bucketBy, salt, scheme, strategy } = rollout
  const basis = { id, bucketBy, salt, scheme, strategy, ...here, ...frame, name: 'Rollout' }
  const unscheduled = {
    targetPercentage: null,
    increment: null,
    intervalHours: null,
    startAt: null,
  }
  if (rollout.strategy === 'gradual') {
    const { variationId, targetPercentage, increment, intervalHours, startAt } = rollout
    const schedule = { targetPercentage, increment, intervalHours, startAt }
    const unused = { percentage: null, variants: null, ranges: [], previousRanges: null }
    return { ...basis, variationId, ...schedule, ...unused }
  }
  const ranges = rollout.ranges.map((range) => ({ ...range }))
  const variants = ranges.map(({ variationId, from, to }) => {
    return { variationId, weight: (to - from) / 1000 }
  })
  const unused = { variationId: null, percentage: null, previousRanges: null, ...unscheduled }
  return { ...basis, ...unused, ranges, variants }
}

function segmentRecord(segment: SegmentDefinition, { projectId }: Place): Records['segment'] {
  const { id, key, logicalOp, force, keyAttribute } = segment
  const rules = segment.rules as Records['segment']['rules']
  const counts = { includedCount: 0, excludedCount: 0 }
  const named = { id, projectId, key: `segment-${id}`, name: key, description: '' }
  return { ...named, rules, logicalOp, force, keyAttribute, ...counts, ...frame }
}
