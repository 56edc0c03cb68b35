import {
  type BucketRange,
  type FlagDefinition,
  jsonEquals,
  type RolloutDefinition,
  type RuleDefinition,
} from '@ff/core'
import type { Environment, Variation } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import type { Reader, RecordChanges, RecordWriter } from '../changes/record-writer.ts'
import { findReferenceFault } from '../flags/conditions.ts'
import { loadFlagConfiguration } from '../flags/flag-configuration.ts'
import { NO_SETTINGS, previousRangesOf } from '../flags/rollout-settings.ts'
import { loadVariations } from '../flags/variations.ts'

/** The number of buckets in one percent. */
const PERCENT = 1000

/** A restoration of a flag in an environment to an earlier published definition. */
export interface FlagRestoration {
  readonly environment: Environment
  /** The published definition to restore. */
  readonly past: FlagDefinition
  /** The current definition. */
  readonly present: FlagDefinition
}

/**
 * Rewrites the records of a flag in an environment so that they match a past definition. Rules and
 * rollouts keep their ids. Rules and rollouts that were deleted in the meantime are restored.
 */
export async function restoreFlag(
  writer: RecordWriter,
  { environment, past, present }: FlagRestoration,
): Promise<void> {
  const { state, rollouts, targetingRules } = await loadFlagConfiguration(
    writer.reader,
    past.id,
    environment.id,
  )
  const variations = await loadVariations(writer.reader, past.id)
  await writer.update('flagState', state, stateFields(past, state, variations))
  const behaviour = { fallback: past.defaultVariationId, at: writer.now }
  await restoreParts(writer, 'rollout', {
    past: past.rollouts,
    present: present.rollouts,
    records: rollouts,
    fieldsOf: (definition, rollout) => restoredRollout(definition, rollout, behaviour),
  })
  await restoreParts(writer, 'targetingRule', {
    past: past.rules,
    present: present.rules,
    records: targetingRules,
    fieldsOf: ruleFields,
  })
}

/** Returns one sentence for each object that the past definition refers to and that is missing. */
export async function findLostReferences(
  reader: Reader,
  { projectId }: Environment,
  past: FlagDefinition,
): Promise<readonly string[]> {
  const variations = new Set((await loadVariations(reader, past.id)).map(({ id }) => id))
  const faults: (string | undefined)[] = variationsOf(past)
    .filter((id) => !variations.has(id))
    .map((id) => `The variation ${nameOf(past, id)} is deleted.`)
  for (const id of new Set(past.rules.flatMap(({ segmentId }) => segmentId ?? []))) {
    const segment = await reader.find('segment', id)
    if (segment?.projectId !== projectId) faults.push(`The segment ${id} is deleted.`)
  }
  for (const condition of past.rules.flatMap(({ conditions }) => conditions)) {
    faults.push(await findReferenceFault(reader, projectId, condition))
  }
  for (const { flagId, variationIds } of past.prerequisites) {
    faults.push(await findPrerequisiteFault(reader, flagId, variationIds))
  }
  return [...new Set(faults.filter((fault) => fault !== undefined))]
}

async function findPrerequisiteFault(
  reader: Reader,
  flagId: string,
  variationIds: readonly string[],
): Promise<string | undefined> {
  const flag = await reader.find('flag', flagId)
  if (flag === undefined) return `The prerequisite ${flagId} is deleted.`
  if (flag.archivedAt !== null) return `The prerequisite "${flag.key}" is archived.`
  const known = new Set((await loadVariations(reader, flagId)).map(({ id }) => id))
  const unknown = variationIds.find((id) => !known.has(id))
  return unknown && `The variation ${unknown} of the prerequisite "${flag.key}" is deleted.`
}

function variationsOf(flag: FlagDefinition): readonly string[] {
  const served = [
    flag.defaultVariationId,
    flag.offVariationId,
    ...[...flag.targets, ...flag.rules].map(({ variationId }) => variationId),
    ...flag.rollouts.flatMap((rollout) => {
      return rollout.strategy === 'gradual'
        ? rollout.variationId
        : rollout.ranges.map(({ variationId }) => variationId)
    }),
  ]
  return [...new Set(served.filter((id) => id !== null))]
}

function nameOf({ variations }: FlagDefinition, id: string): string {
  const key = variations.find((variation) => variation.id === id)?.key
  return key === undefined ? id : `"${key}"`
}

/**
 * Returns the restored fields of a flag state. The environment gets its own default variation only
 * if the past default variation differs from that of the flag.
 */
function stateFields(
  past: FlagDefinition,
  state: Records['flagState'],
  variations: readonly Variation[],
): RecordChanges<'flagState'> {
  const { isActive, offVariationId, defaultVariationId } = past
  const usual = (variations.find(({ isDefault }) => isDefault) ?? variations[0])?.id
  const isKept = (state.defaultVariationId ?? usual) === defaultVariationId
  const own = defaultVariationId === usual ? null : defaultVariationId
  return {
    isActive,
    offVariationId,
    defaultVariationId: isKept ? state.defaultVariationId : own,
    targets: past.targets.map((target) => ({ ...target, keys: [...target.keys] })),
    prerequisites: past.prerequisites.map(({ flagId, variationIds }) => {
      return { flagId, variationIds: [...variationIds] }
    }),
  }
}

interface PartRestoration<K extends 'targetingRule' | 'rollout', Definition> {
  readonly past: readonly Definition[]
  readonly present: readonly Definition[]
  /** The records of the present definitions. */
  readonly records: readonly Records[K][]
  readonly fieldsOf: (definition: Definition, record: Records[K]) => RecordChanges<K>
}

/**
 * Removes the records without a past definition, rewrites the records with a different past
 * definition, and restores deleted records.
 */
async function restoreParts<
  K extends 'targetingRule' | 'rollout',
  Definition extends { readonly id: string },
>(
  writer: RecordWriter,
  kind: K,
  { past, present, records, fieldsOf }: PartRestoration<K, Definition>,
): Promise<void> {
  const kept = new Set(past.map(({ id }) => id))
  for (const record of records) if (!kept.has(record.id)) await writer.remove(kind, record)
  const living = new Map(records.map((record) => [record.id, record]))
  const published = new Map(present.map((definition) => [definition.id, definition]))
  for (const definition of past) {
    const { id } = definition
    if (isSame(definition, published.get(id))) continue
    const record = living.get(id)
    if (record !== undefined) await writer.update(kind, record, fieldsOf(definition, record))
    else await writer.revive(kind, id, (deleted) => fieldsOf(definition, deleted))
  }
}

/**
 * Returns `true` if two definitions are equal. The casts are necessary because definitions are
 * JSON, but their types are not `JsonValue`.
 */
export function isSame(a: object, b: object | undefined): boolean {
  return b !== undefined && jsonEquals(a as never, b as never)
}

/**
 * Returns the restored fields of a rule. The name of a rule is not published, so the record keeps
 * its name.
 */
function ruleFields(
  { conditions, segmentId, variationId, rolloutId, orderIndex }: RuleDefinition,
  { kind }: Records['targetingRule'],
): RecordChanges<'targetingRule'> {
  const references = { segmentId, variationId, rolloutId, orderIndex }
  return {
    ...references,
    kind: segmentId === null ? 'custom' : kind,
    conditions: conditions.map((condition) => ({ ...condition })),
  }
}

/**
 * Returns the fields with which a rollout behaves as its published definition. Only ranges are
 * published, so the weights are computed from them. A variation without a range has the weight 0.
 * If neither the ranges nor the record contain a variation, the result contains `fallback` with the
 * weight 0.
 */
function restoredRollout(
  definition: RolloutDefinition,
  rollout: Records['rollout'],
  { fallback, at }: { readonly fallback: string; readonly at: string },
): RecordChanges<'rollout'> {
  const { bucketBy, salt, scheme } = definition
  const settings = { ...NO_SETTINGS, ...settingsOf(definition, rollout, fallback) }
  const restored = { ...rollout, bucketBy, salt, scheme, ...settings }
  return { ...restored, previousRanges: previousRangesOf(rollout, restored, Date.parse(at)) }
}

function settingsOf(definition: RolloutDefinition, rollout: Records['rollout'], fallback: string) {
  const { strategy } = definition
  if (strategy === 'gradual') {
    const { variationId, targetPercentage, increment, intervalHours, startAt } = definition
    return {
      ...{ strategy, variationId, targetPercentage, increment, intervalHours, startAt },
      ranges: [],
    }
  }
  const ranges = [...definition.ranges]
  const weights = weightsOf(ranges)
  if (strategy === 'percentage') {
    const [variationId = rollout.variationId ?? fallback] = weights.keys()
    return { strategy, variationId, percentage: weights.get(variationId) ?? 0, ranges }
  }
  const known = (rollout.variants ?? []).map(({ variationId }) => variationId)
  const listed = new Set([...known, ...weights.keys()])
  if (listed.size === 0) listed.add(fallback)
  const variants = [...listed].map((variationId) => {
    return { variationId, weight: weights.get(variationId) ?? 0 }
  })
  return { strategy, variants, ranges }
}

/** Returns the percentages of the variations, in the order of the ranges. */
function weightsOf(ranges: readonly BucketRange[]): ReadonlyMap<string, number> {
  const buckets = new Map<string, number>()
  for (const { variationId, from, to } of ranges) {
    buckets.set(variationId, (buckets.get(variationId) ?? 0) + to - from)
  }
  return new Map([...buckets].map(([id, count]) => [id, count / PERCENT]))
}
