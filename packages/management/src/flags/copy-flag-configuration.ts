import { compareCodePoints } from '@ff/core'
import type { Environment, Flag, TargetingRule } from '@ff/protocol/management'
import { newId, runInTimeSlices } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import type { Reader, RecordWriter } from '../changes/record-writer.ts'
import { applyDifference, differencesIn, type PartDifference } from './configuration-differences.ts'
import { loadFlagConfiguration, type PartKind } from './flag-configuration.ts'
import { previousRangesOf } from './rollout-settings.ts'

/** A copy of a flag's configuration from one environment of its project to another. */
export interface FlagCopy {
  readonly flag: Flag
  readonly from: Environment
  readonly to: Environment
}

/**
 * Copies the configuration of a flag from one environment to another, with as few writes as
 * possible. The flag must already have a state in the target environment. Returns the differences
 * between the two configurations before the copy.
 */
export async function copyFlagConfiguration(
  writer: RecordWriter,
  copy: FlagCopy,
): Promise<readonly PartDifference[]> {
  const differences = await planFlagCopy(writer.reader, copy, writer.now)
  for (const difference of differences) await applyDifference(writer, difference)
  return differences
}

/**
 * Returns the changes that `copyFlagConfiguration` would apply at `now`. A rule or rollout with the
 * same content in `to` is kept; otherwise one with the same name is updated. Salts are copied, so
 * that each context is in the same bucket in both environments.
 */
export async function planFlagCopy(
  reader: Reader,
  { flag, from, to }: FlagCopy,
  now: string,
): Promise<readonly PartDifference[]> {
  const source = await loadFlagConfiguration(reader, flag.id, from.id)
  const target = await loadFlagConfiguration(reader, flag.id, to.id)
  const frameFor = (known: Records[PartKind] | null) => frameOf(known, to, now)
  const pairedRollouts = await runInTimeSlices(pair<'rollout'>(source.rollouts, target.rollouts))
  const rollouts = pairedRollouts.map(({ own, other }) => {
    const after = { ...own, ...frameFor(other), previousRanges: null }
    const previousRanges = other && previousRangesOf(other, after, Date.parse(now))
    return { own, before: other, after: { ...after, previousRanges } }
  })
  const rolloutIds = new Map(rollouts.map(({ own, after }) => [own.id, after.id]))
  const wanted = inDistinctPlaces(source.targetingRules).map((rule) => {
    const { rolloutId } = rule
    return { ...rule, rolloutId: rolloutId === null ? null : (rolloutIds.get(rolloutId) ?? null) }
  })
  const pairedRules = await runInTimeSlices(pair<'targetingRule'>(wanted, target.targetingRules))
  const rules = pairedRules.map(({ own, other }) => {
    return { before: other, after: { ...own, ...frameFor(other) } }
  })
  const state = { before: target.state, after: { ...source.state, ...frameFor(target.state) } }
  return [
    ...differencesIn('flagState', [target.state], [state]),
    ...differencesIn('rollout', target.rollouts, rollouts),
    ...differencesIn('targetingRule', target.targetingRules, rules),
  ]
}

/**
 * Returns the fields that a copy does not overwrite; those of a new record if `known` is `null`.
 */
function frameOf(known: Records[PartKind] | null, { id: environmentId }: Environment, now: string) {
  const fresh = { id: newId(), createdAt: now, updatedAt: now, revision: 1 }
  const { id, createdAt, updatedAt, revision } = known ?? fresh
  return { id, environmentId, createdAt, updatedAt, revision }
}

/**
 * Returns the rules with distinct order indices. Rules with equal indices are evaluated by age,
 * which a copy does not preserve.
 */
function inDistinctPlaces(rules: readonly TargetingRule[]): readonly TargetingRule[] {
  const places = new Set(rules.map(({ orderIndex }) => orderIndex))
  if (places.size === rules.length) return rules
  return rules.map((rule, orderIndex) => ({ ...rule, orderIndex }))
}

/**
 * Pairs each record with the record of the other environment that it replaces: one with the same
 * content, otherwise the first remaining one with the same name, otherwise `null`. The caller can
 * pause the work at each `yield`.
 */
function* pair<K extends 'targetingRule' | 'rollout'>(
  own: readonly Records[K][],
  others: readonly Records[K][],
): Generator<undefined, { own: Records[K]; other: Records[K] | null }[]> {
  const remaining = new Set(others)
  const pairs = new Map<Records[K], Records[K]>()
  for (const keyOf of [contentOf, ({ name }: Records[K]) => name]) {
    const groups = new Map<string, Records[K][]>()
    for (const other of remaining) {
      const group = groups.get(keyOf(other)) ?? []
      group.push(other)
      groups.set(keyOf(other), group)
      yield
    }
    for (const each of own) {
      const other = pairs.has(each) ? undefined : groups.get(keyOf(each))?.shift()
      if (other !== undefined && remaining.delete(other)) pairs.set(each, other)
      yield
    }
  }
  return own.map((each) => ({ own: each, other: pairs.get(each) ?? null }))
}

/** Returns the fields of a record that are copied, as text. */
function contentOf(record: object): string {
  const identity = ['id', 'environmentId', 'createdAt', 'updatedAt', 'revision', 'previousRanges']
  const content = Object.entries(record).filter(([name]) => !identity.includes(name))
  return JSON.stringify(content.sort(([left], [right]) => compareCodePoints(left, right)))
}
