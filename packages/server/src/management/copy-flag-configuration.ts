import { compareCodePoints, type JsonValue, jsonEquals } from '@ff/core'
import type { Environment, Flag, TargetingRule } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import { newId } from '../ids.ts'
import { loadFlagConfiguration, type PartDifference, type PartKind } from './flag-configuration.ts'
import type { Reader, RecordWriter } from './record-writer.ts'
import { previousRangesOf } from './restored-rollout.ts'

/** A flag that is to behave in one environment of its project as it does in another. */
export interface FlagCopy {
  readonly flag: Flag
  readonly from: Environment
  readonly to: Environment
}

/**
 * Makes a flag behave in the environment `to`, where it has a state already, exactly as in the
 * environment `from`, with as few writes as that takes. Answers what was different.
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
 * What `copyFlagConfiguration` would change at `now`. A rule or rollout that the other environment
 * has already stays; else the one of the same name there becomes it. Salts are copied, so that
 * everybody gets in both environments the same share of a rollout.
 */
export async function planFlagCopy(
  reader: Reader,
  { flag, from, to }: FlagCopy,
  now: string,
): Promise<readonly PartDifference[]> {
  const source = await loadFlagConfiguration(reader, flag.id, from.id)
  const target = await loadFlagConfiguration(reader, flag.id, to.id)
  const frameFor = (known: Records[PartKind] | null) => frameOf(known, to, now)
  const rollouts = pair<'rollout'>(source.rollouts, target.rollouts).map(({ own, other }) => {
    const after = { ...own, ...frameFor(other), previousRanges: null }
    const previousRanges = other && previousRangesOf(other, after, Date.parse(now))
    return { own, before: other, after: { ...after, previousRanges } }
  })
  const rolloutIds = new Map(rollouts.map(({ own, after }) => [own.id, after.id]))
  const wanted = inDistinctPlaces(source.targetingRules).map((rule) => {
    const { rolloutId } = rule
    return { ...rule, rolloutId: rolloutId === null ? null : (rolloutIds.get(rolloutId) ?? null) }
  })
  const rules = pair<'targetingRule'>(wanted, target.targetingRules).map(({ own, other }) => {
    return { before: other, after: { ...own, ...frameFor(other) } }
  })
  const state = { before: target.state, after: { ...source.state, ...frameFor(target.state) } }
  return [
    ...differencesIn('flagState', [target.state], [state]),
    ...differencesIn('rollout', target.rollouts, rollouts),
    ...differencesIn('targetingRule', target.targetingRules, rules),
  ]
}

/** What stays of a record when all the rest is copied onto it; a new one's when there is none. */
function frameOf(known: Records[PartKind] | null, { id: environmentId }: Environment, now: string) {
  if (known === null) {
    return { id: newId(), environmentId, createdAt: now, updatedAt: now, revision: 1 }
  }
  const { id, createdAt, updatedAt, revision } = known
  return { id, environmentId, createdAt, updatedAt, revision }
}

/** Rules with equal places are tried by age, which a copy does not keep: they get places of their own. */
function inDistinctPlaces(rules: readonly TargetingRule[]): readonly TargetingRule[] {
  const places = new Set(rules.map(({ orderIndex }) => orderIndex))
  if (places.size === rules.length) return rules
  return rules.map((rule, orderIndex) => ({ ...rule, orderIndex }))
}

/**
 * Each of one's own with what it is to become of the other's: what says the same already, else the
 * first that is left of its name.
 */
function pair<K extends 'targetingRule' | 'rollout'>(
  own: readonly Records[K][],
  others: readonly Records[K][],
): { own: Records[K]; other: Records[K] | null }[] {
  const left = new Map(others.map((other) => [other.id, other]))
  const take = (isWanted: (other: Records[K]) => boolean) => {
    const found = [...left.values()].find(isWanted) ?? null
    if (found !== null) left.delete(found.id)
    return found
  }
  const texts = new Map(others.map((other) => [other.id, contentOf(other)]))
  const same = own.map((each) => {
    const text = contentOf(each)
    return take(({ id }) => texts.get(id) === text)
  })
  return own.map((each, index) => {
    return { own: each, other: same[index] ?? take(({ name }) => name === each.name) }
  })
}

/** All that a copy takes over, as text. */
function contentOf(record: object): string {
  const identity = ['id', 'environmentId', 'createdAt', 'updatedAt', 'revision', 'previousRanges']
  const content = Object.entries(record).filter(([name]) => !identity.includes(name))
  return JSON.stringify(content.sort(([left], [right]) => compareCodePoints(left, right)))
}

interface Pair<K extends PartKind> {
  readonly before: Records[K] | null
  readonly after: Records[K]
}

function differencesIn<K extends PartKind>(
  kind: K,
  present: readonly Records[K][],
  pairs: readonly Pair<K>[],
): PartDifference[] {
  const kept = new Set(pairs.map(({ before }) => before?.id))
  const isDifferent = ({ before, after }: Pair<K>) =>
    !jsonEquals(before as unknown as JsonValue, after as unknown as JsonValue)
  return [
    ...present.filter(({ id }) => !kept.has(id)).map((before) => ({ kind, before, after: null })),
    ...pairs.filter(isDifferent).map(({ before, after }) => ({ kind, before, after })),
  ]
}

async function applyDifference<K extends PartKind>(
  writer: RecordWriter,
  { kind, before, after }: PartDifference<K>,
): Promise<void> {
  if (before !== null && after !== null) await writer.update(kind, before, after)
  else if (after !== null) await writer.insert(kind, after)
  else if (before !== null) await writer.remove(kind, before)
}
