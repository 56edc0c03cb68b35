import { rangesAt } from '@ff/core/authoring'
import {
  type PublishedVersion,
  type Records,
  type Storage,
  toFlagDefinition,
  toRolloutDefinition,
} from '@ff/storage'
import type { Json } from '../world/world.ts'

/** The published versions of an environment with their actors. */
type History = readonly (PublishedVersion & { readonly actor: string | null })[]

/**
 * Returns the summaries of all flags of a project in the wire format, sorted by key. They are
 * derived from the flag sets, the versions and the records, without the stored summaries.
 */
export async function expectedSummaries(
  storage: Storage,
  project: Json,
  now: number,
): Promise<Json[]> {
  const projectId = project.id
  const environments = [...(await storage.list('environment', { where: { projectId } })).data].sort(
    (a, b) =>
      Number(b.isDefault) - Number(a.isDefault) ||
      a.orderIndex - b.orderIndex ||
      (a.id < b.id ? -1 : 1),
  )
  const histories = new Map<string, History>()
  for (const { id } of environments) histories.set(id, await loadHistory(storage, id))
  const sort = { field: 'key', direction: 'asc' } as const
  const summaries: Json[] = []
  for (const flag of (await storage.list('flag', { where: { projectId }, sort })).data) {
    const parts: Json[] = []
    const contents: string[] = []
    for (const { id } of environments) {
      const records = await loadRecords(storage, flag, id)
      parts.push(await expectedPart(storage, records, { now, history: histories.get(id) ?? [] }))
      contents.push(JSON.stringify(contentOf(records)))
    }
    const variations = (await storage.list('variation', { where: { flagId: flag.id } })).data
    summaries.push({
      ...{ id: flag.id, key: flag.key, name: flag.name, type: flag.type, tags: flag.tags },
      ...{ archived_at: flag.archivedAt, created_at: flag.createdAt, updated_at: flag.updatedAt },
      last_evaluated_at: flag.lastEvaluatedAt,
      variations: [...variations]
        .sort((a, b) => a.orderIndex - b.orderIndex || (a.id < b.id ? -1 : 1))
        .map(({ id, key, name }) => ({ id, key, name })),
      differs: contents.some((content) => content !== contents[0]),
      environments: parts,
    })
  }
  return summaries
}

async function loadHistory(storage: Storage, environmentId: string): Promise<History> {
  const { data } = await storage.listVersions(environmentId, { page: 1, limit: 100_000 })
  const history: History[number][] = []
  for (const version of data) {
    const event =
      version.eventId === null ? null : await storage.find('auditEvent', version.eventId)
    history.push({ ...version, actor: event?.actor.name ?? null })
  }
  return history
}

interface FlagParts {
  readonly flag: Records['flag']
  readonly state: Records['flagState']
  readonly variations: readonly Records['variation'][]
  readonly rules: readonly Records['targetingRule'][]
  readonly rollouts: readonly Records['rollout'][]
}

async function loadRecords(
  storage: Storage,
  flag: Records['flag'],
  environmentId: string,
): Promise<FlagParts> {
  const where = { flagId: flag.id, environmentId }
  const [state] = (await storage.list('flagState', { where })).data
  if (state === undefined) throw new Error(`The flag ${flag.key} has no state.`)
  const variations = (await storage.list('variation', { where: { flagId: flag.id } })).data
  const rules = (await storage.list('targetingRule', { where })).data
  const rollouts = (await storage.list('rollout', { where })).data
  const parts = { flag, state, variations, rules, rollouts }
  const published = (await storage.loadFlagSet(environmentId))?.flags.find(
    ({ id }) => id === flag.id,
  )
  // The flag set must agree with the records.
  const definition = flag.archivedAt === null ? toFlagDefinition(parts) : undefined
  if (JSON.stringify(published) !== JSON.stringify(definition)) {
    throw new Error(`The flag ${flag.key} is not published as stored.`)
  }
  return parts
}

function servedRollout({ rules, rollouts }: FlagParts): Records['rollout'] | undefined {
  for (const { rolloutId } of inOrder(rules)) {
    const rollout = rollouts.find(({ id }) => id === rolloutId)
    if (rollout !== undefined) return rollout
  }
  return undefined
}

function inOrder(rules: FlagParts['rules']): FlagParts['rules'] {
  const placeOf = ({ orderIndex, createdAt, id }: Records['targetingRule']) =>
    `${String(orderIndex).padStart(12, '0')} ${createdAt} ${id}`
  return [...rules].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

interface At {
  readonly now: number
  readonly history: History
}

async function expectedPart(storage: Storage, records: FlagParts, { now, history }: At) {
  const { flag, state, rules } = records
  const rollout = servedRollout(records)
  const changes = await storage.list('scheduledChange', {
    where: { flagId: flag.id, environmentId: state.environmentId },
  })
  const last = history.find(({ flags }) => flags.some(({ id }) => id === flag.id))
  const isPlain = rules.length + state.targets.length + state.prerequisites.length === 0
  const shapes = { percentage: 'rollout', variant: 'experiment', gradual: 'gradual' }
  const shape = rollout === undefined ? (isPlain ? 'everybody' : 'rules') : shapes[rollout.strategy]
  return {
    environment_id: state.environmentId,
    is_active: state.isActive,
    shape: state.isActive ? shape : 'off',
    default_variation_id: defaultOf(records),
    off_variation_id: state.offVariationId,
    rule_count: rules.length,
    ...expectedOfRules(records),
    target_count: state.targets.flatMap(({ keys }) => keys).length,
    prerequisite_count: state.prerequisites.length,
    pending_changes: changes.data.filter(({ status }) => status === 'pending').length,
    split: rollout === undefined ? null : splitAt(rollout, now),
    split_is_conditional: inOrder(rules).some(
      (rule) => rule.rolloutId !== null && rule.rolloutId === rollout?.id && !isForEveryone(rule),
    ),
    next_step_at: rollout === undefined ? null : nextStepOf(rollout, now),
    version: last?.version ?? null,
    changed_at: last?.publishedAt ?? null,
    changed_by: last?.actor ?? null,
  }
}

function isForEveryone({ conditions, segmentId }: Records['targetingRule']): boolean {
  return conditions.length === 0 && segmentId === null
}

/** Reads the rules in their order, until one serves a variation to every context. */
function expectedOfRules(records: FlagParts): Json {
  let count = 0
  const served: string[] = []
  let others = defaultOf(records)
  for (const rule of inOrder(records.rules)) {
    const variationId = rule.rolloutId === null ? rule.variationId : null
    if (isForEveryone(rule)) {
      if (variationId === null) continue
      others = variationId
      break
    }
    count += 1
    if (variationId !== null && !served.includes(variationId)) served.push(variationId)
  }
  return {
    conditional_rule_count: count,
    rule_variation_ids: served,
    others_variation_id: others,
  }
}

function defaultOf({ state, variations }: FlagParts): string | null {
  return state.defaultVariationId ?? variations.find(({ isDefault }) => isDefault)?.id ?? null
}

function splitAt(rollout: Records['rollout'], now: number): Json[] {
  const split: { variation_id: string; percent: number }[] = []
  for (const { variationId, from, to } of rangesAt(toRolloutDefinition(rollout), now)) {
    const known = split.find(({ variation_id }) => variation_id === variationId)
    if (known === undefined) split.push({ variation_id: variationId, percent: to - from })
    else known.percent += to - from
  }
  return split.map(({ variation_id, percent }) => ({ variation_id, percent: percent / 1000 }))
}

function nextStepOf(rollout: Records['rollout'], now: number): string | null {
  const { strategy, startAt, intervalHours, increment, targetPercentage } = rollout
  if (strategy !== 'gradual') return null
  for (let reached = 0, at = Date.parse(startAt ?? ''); reached < (targetPercentage ?? 0); ) {
    if (at > now) return new Date(at).toISOString()
    reached += increment ?? 0
    at += (intervalHours ?? 0) * 3_600_000
  }
  return null
}

/** Returns the content by which environments are compared. */
function contentOf(records: FlagParts): Json {
  const { state, rules, rollouts } = records
  const { isActive, offVariationId, targets, prerequisites } = state
  return {
    ...{ isActive, offVariationId, targets, prerequisites, fallback: defaultOf(records) },
    rules: inOrder(rules).map(({ conditions, segmentId, variationId, rolloutId }) => {
      const rollout = rollouts.find(({ id }) => id === rolloutId)
      return { conditions, segmentId, variationId, rollout: rollout && settingsOf(rollout) }
    }),
  }
}

function settingsOf(rollout: Records['rollout']): Json {
  const { strategy, bucketBy, scheme, variationId, percentage, variants } = rollout
  const { targetPercentage, increment, intervalHours, startAt } = rollout
  const weights = variants ?? [{ variationId: variationId ?? '', weight: percentage ?? 0 }]
  const shares = weights
    .filter(({ weight }) => weight > 0)
    .map((variant) => `${variant.variationId} ${variant.weight}`)
  const schedule = [variationId, targetPercentage, increment, intervalHours, startAt]
  return [strategy, bucketBy, scheme, strategy === 'gradual' ? schedule : shares.sort()]
}
