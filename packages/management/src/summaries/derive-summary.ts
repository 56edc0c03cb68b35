import type { FlagDefinition } from '@ff/core'
import { runInTimeSlices, sha256, TimeSlice, TimeSliceQueue } from '@ff/server/plane'
import {
  type Records,
  type StorageSession,
  type StoredEnvironmentSummary,
  type StoredFlagSummary,
  toFlagDefinition,
} from '@ff/storage'
import { contentOf, summarizedConfiguration } from './summarize.ts'

/** The reading methods that a derivation needs. */
type SummaryReader = Pick<StorageSession, 'find' | 'list'>

/** The flags whose summaries are derived: one flag, or all flags of an environment. */
export interface SummaryScope {
  readonly projectId: string
  readonly flagId?: string | undefined
  /** Limits the derivation to one environment; the parts of other environments are kept. */
  readonly environmentId?: string | undefined
}

/** The versions that a change has published. */
export interface PublishedFlags {
  readonly publishedAt: string
  /** The name of the actor of the change. */
  readonly actorName: string
  /** The versions by environment, with the flags that they changed. */
  readonly versions: ReadonlyMap<
    string,
    { readonly version: number; readonly flagIds: ReadonlySet<string> }
  >
}

/** The records of a scope, grouped by flag, or by flag and environment. */
interface ScopedRecords {
  readonly variations: ReadonlyMap<string, readonly Records['variation'][]>
  readonly states: ReadonlyMap<string, readonly Records['flagState'][]>
  readonly rules: ReadonlyMap<string, readonly Records['targetingRule'][]>
  readonly rollouts: ReadonlyMap<string, readonly Records['rollout'][]>
}

/** Loads the records from which the summaries of a scope are derived, in four queries. */
export async function loadScope(
  reader: SummaryReader,
  { projectId, flagId, environmentId }: SummaryScope,
): Promise<ScopedRecords> {
  const where = {
    ...(flagId !== undefined && { flagId }),
    ...(environmentId !== undefined && { environmentId }),
  }
  const ofFlag = flagId === undefined ? { projectId } : { flagId }
  const [variations, states, rules, rollouts] = await Promise.all([
    reader.list('variation', { where: ofFlag }),
    reader.list('flagState', { where }),
    reader.list('targetingRule', { where }),
    reader.list('rollout', { where }),
  ])
  return {
    variations: groupedBy(variations.data, (variation) => variation.flagId),
    states: groupedBy(states.data, (state) => state.flagId),
    rules: groupedBy(rules.data, placeOf),
    rollouts: groupedBy(rollouts.data, placeOf),
  }
}

interface Placed {
  readonly flagId: string
  readonly environmentId: string
}

function placeOf({ flagId, environmentId }: Placed): string {
  return `${flagId} ${environmentId}`
}

function groupedBy<T>(records: readonly T[], keyOf: (record: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const record of records) {
    const group = groups.get(keyOf(record))
    if (group === undefined) groups.set(keyOf(record), [record])
    else group.push(record)
  }
  return groups
}

/** The input of `deriveSummary`. */
export interface Derivation {
  readonly flag: Records['flag']
  readonly scope: SummaryScope
  readonly records: ScopedRecords
  /** The change that causes the derivation; absent if none was published. */
  readonly published?: Promise<PublishedFlags> | undefined
}

/**
 * Returns `false` for no summary, and for one that an instance of an earlier release has written
 * while it ran beside this one.
 */
export function isComplete(summary: StoredFlagSummary | null): summary is StoredFlagSummary {
  return summary?.environments.every((part) => Object.hasOwn(part, 'ruleVariationIds')) === true
}

/**
 * Returns the summary of a flag. Within the scope, it is derived from the records; other parts are
 * those of the present summary. The published version of an environment is that of `published` if
 * it changed the flag, otherwise that of the present summary.
 */
export async function deriveSummary(
  reader: SummaryReader,
  derivation: Derivation,
): Promise<StoredFlagSummary> {
  const { flag, scope, records } = derivation
  const { summary, id: flagId } = flag
  const isKept = (environmentId: string) =>
    scope.environmentId !== undefined && scope.environmentId !== environmentId
  const parts = (summary?.environments ?? []).filter(({ environmentId }) => isKept(environmentId))
  for (const state of records.states.get(flagId) ?? []) {
    parts.push(await deriveEnvironment(reader, derivation, state))
  }
  const variations = [...(records.variations.get(flagId) ?? [])].sort(byOrder)
  return {
    variations: variations.map(({ id, key, name }) => ({ id, key, name })),
    environments: parts.sort((a, b) => (a.environmentId < b.environmentId ? -1 : 1)),
  }
}

function byOrder(a: Records['variation'], b: Records['variation']): number {
  return a.orderIndex - b.orderIndex || (a.id < b.id ? -1 : 1)
}

async function deriveEnvironment(
  reader: SummaryReader,
  { flag, scope, records, published }: Derivation,
  state: Records['flagState'],
): Promise<StoredEnvironmentSummary> {
  const { environmentId } = state
  const definition = toFlagDefinition({
    ...{ flag, state },
    variations: records.variations.get(flag.id) ?? [],
    rules: records.rules.get(placeOf(state)) ?? [],
    rollouts: records.rollouts.get(placeOf(state)) ?? [],
  })
  const [change, pendingChanges, contentHash] = await Promise.all([
    published,
    // A change affects all flags only if it creates the environment.
    scope.flagId === undefined ? 0 : countPending(reader, state),
    hashOf(definition),
  ])
  const known = flag.summary?.environments.find((part) => part.environmentId === environmentId)
  const { version = null, changedAt = null, changedBy = null } = known ?? {}
  const now = change?.versions.get(environmentId)
  const last =
    change !== undefined && now?.flagIds.has(flag.id)
      ? { changedAt: change.publishedAt, changedBy: change.actorName, version: now.version }
      : { changedAt, changedBy, version }
  const configuration = summarizedConfiguration(definition)
  return { environmentId, ...configuration, pendingChanges, contentHash, ...last }
}

/** Returns a hash of the content of a configuration. Works in time slices. */
async function hashOf(definition: FlagDefinition): Promise<string> {
  const turns = new TimeSliceQueue()
  let slice = new TimeSlice()
  const hashes: string[] = []
  for (const text of await runInTimeSlices(contentOf(definition))) {
    if (!slice.take()) {
      slice = await turns.next()
      slice.take()
    }
    hashes.push(await sha256(text))
  }
  return sha256(hashes.join(' '))
}

async function countPending(
  reader: SummaryReader,
  { flagId, environmentId }: Placed,
): Promise<number> {
  const where = { flagId, environmentId, status: 'pending' as const }
  return (await reader.list('scheduledChange', { where, limit: 1 })).total
}
