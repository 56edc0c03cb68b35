import {
  type BucketRange,
  type FlagDefinition,
  jsonEquals,
  type RolloutDefinition,
  type RuleDefinition,
} from '@ff/core'
import type { Environment, Flag, Variation } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import type { Reader, RecordChanges, RecordWriter } from '../changes/record-writer.ts'
import { findReferenceFault } from '../flags/conditions.ts'
import { type FlagConfiguration, loadFlagConfiguration } from '../flags/flag-configuration.ts'
import { NO_SETTINGS, previousRangesOf } from '../flags/rollout-settings.ts'
import { loadVariations } from '../flags/variations.ts'

/** Buckets in one percent. */
const PERCENT = 1000

/** A flag that is to behave in an environment as it was once published there. */
export interface FlagRestoration {
  readonly environment: Environment
  /** As it was. */
  readonly past: FlagDefinition
  /** As it is. */
  readonly present: FlagDefinition
}

/**
 * Rewrites the records of a flag in an environment so that they say what was published then.
 * Rules and rollouts keep their ids: those that were deleted since are living again.
 */
export async function restoreFlag(
  writer: RecordWriter,
  restoration: FlagRestoration,
): Promise<void> {
  const { past, environment } = restoration
  const is = await loadFlagConfiguration(writer.reader, past.id, environment.id)
  const variations = await loadVariations(writer.reader, past.id)
  await writer.update('flagState', is.state, stateFields(past, is.state, variations))
  await restoreRollouts(writer, restoration, is)
  await restoreRules(writer, restoration, is)
}

/** What the flag referred to then and is gone now, as sentences. */
export async function findLostReferences(
  reader: Reader,
  { projectId }: Environment,
  past: FlagDefinition,
): Promise<readonly string[]> {
  const variations = new Set((await loadVariations(reader, past.id)).map(({ id }) => id))
  const conditions = past.rules.flatMap((rule) => rule.conditions)
  const faults: (string | undefined)[] = [
    ...variationsOf(past)
      .filter((id) => !variations.has(id))
      .map((id) => `The variation ${nameOf(past, id)} is deleted.`),
  ]
  for (const id of new Set(past.rules.flatMap(({ segmentId }) => segmentId ?? []))) {
    const segment = await reader.find('segment', id)
    if (segment?.projectId !== projectId) faults.push(`The segment ${id} is deleted.`)
  }
  for (const condition of conditions) {
    faults.push(await findReferenceFault(reader, projectId, condition))
  }
  for (const { flagId, variationIds } of past.prerequisites) {
    const flag = await reader.find('flag', flagId)
    faults.push(await findPrerequisiteFault(reader, flagId, { flag, variationIds }))
  }
  return [...new Set(faults.filter((fault) => fault !== undefined))]
}

async function findPrerequisiteFault(
  reader: Reader,
  flagId: string,
  { flag, variationIds }: { flag: Flag | undefined; variationIds: readonly string[] },
): Promise<string | undefined> {
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

/** A default of its own is given to the environment only if the flag's is another one. */
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

async function restoreRules(
  writer: RecordWriter,
  { past, present }: FlagRestoration,
  { targetingRules }: FlagConfiguration,
): Promise<void> {
  const living = new Map(targetingRules.map((rule) => [rule.id, rule]))
  for (const rule of targetingRules.filter(({ id }) => !has(past.rules, id))) {
    await writer.remove('targetingRule', rule)
  }
  for (const definition of changedParts(past.rules, present.rules)) {
    const rule = living.get(definition.id)
    if (rule !== undefined) await writer.update('targetingRule', rule, ruleFields(definition, rule))
    else {
      await writer.revive('targetingRule', definition.id, (gone) => ruleFields(definition, gone))
    }
  }
}

async function restoreRollouts(
  writer: RecordWriter,
  { past, present }: FlagRestoration,
  { rollouts }: FlagConfiguration,
): Promise<void> {
  const living = new Map(rollouts.map((rollout) => [rollout.id, rollout]))
  for (const rollout of rollouts.filter(({ id }) => !has(past.rollouts, id))) {
    await writer.remove('rollout', rollout)
  }
  for (const definition of changedParts(past.rollouts, present.rollouts)) {
    const fieldsOf = (rollout: Records['rollout']) =>
      restoredRollout(definition, rollout, { fallback: past.defaultVariationId, at: writer.now })
    const rollout = living.get(definition.id)
    if (rollout !== undefined) await writer.update('rollout', rollout, fieldsOf(rollout))
    else await writer.revive('rollout', definition.id, fieldsOf)
  }
}

/** Returns the parts whose definition differs from the present one. */
function changedParts<T extends { readonly id: string }>(
  past: readonly T[],
  present: readonly T[],
): readonly T[] {
  const known = new Map(present.map((part) => [part.id, part]))
  return past.filter((part) => !isSame(part, known.get(part.id)))
}

/** Definitions are JSON, which their types do not say. */
export function isSame(a: object, b: object | undefined): boolean {
  return b !== undefined && jsonEquals(a as never, b as never)
}

function has(parts: readonly { readonly id: string }[], id: string): boolean {
  return parts.some((part) => part.id === id)
}

/** The name is not published: it stays what it is, or was when the rule was deleted. */
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
 * published: the weights derive from them, and a variation without a range keeps the weight 0.
 * `fallback` is the variation with the weight 0 if neither ranges nor record name one.
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

/** Percent by variation, in the order of the ranges. */
function weightsOf(ranges: readonly BucketRange[]): ReadonlyMap<string, number> {
  const buckets = new Map<string, number>()
  for (const { variationId, from, to } of ranges) {
    buckets.set(variationId, (buckets.get(variationId) ?? 0) + to - from)
  }
  return new Map([...buckets].map(([id, count]) => [id, count / PERCENT]))
}
