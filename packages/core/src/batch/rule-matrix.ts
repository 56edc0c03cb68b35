import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import type { Outcome } from '../evaluation/outcome.ts'
import { segmentName } from '../evaluation/references.ts'
import type { Serve } from '../evaluation/rule.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import { clear } from './bit-set.ts'
import { type ConditionIndex, indexRuleRows } from './condition-index.ts'
import { compileOutcomeTable, type OutcomeTable } from './outcome-table.ts'
import { compilePrerequisites, type PrerequisiteTable } from './prerequisite-table.ts'
import { conditionsRow, type RuleRow, targetRow } from './rule-row.ts'
import { indexSegments, type SegmentIndex } from './segment-index.ts'
import { attributeSource, type ValueSource } from './value-source.ts'

/**
 * The rules of many flags, indexed so that they can be evaluated together. Flags that change later
 * are indexed separately, until there are many of them. This makes changes cheap, and hardly slows
 * down evaluations.
 */
export interface RuleMatrix {
  /** At most three shards: most flags, then flags that changed later, then the latest changes. */
  readonly shards: readonly Shard[]
  /** The values that the shards and the segment index read, without duplicates. */
  readonly sources: readonly ValueSource[]
  /** The index of the segments that rules in the shards require. */
  readonly segments: SegmentIndex
  readonly segmentSlots: IndexSlots
  /** For each of `segments.segments`, the index in `sources` of the listed keys. */
  readonly keySlots: readonly number[]
  /**
   * The outcome code of each flag if no rule serves a variation. The flags that a client view does
   * not serve, but on which others depend, come last.
   */
  readonly initial: Int32Array
  readonly prerequisites: PrerequisiteTable
}

/** The indexes in `RuleMatrix.sources` of the values that a condition index reads. */
export interface IndexSlots {
  /** For each of `values`. */
  readonly values: readonly number[]
  /** For each of `unindexed`. -1 if the condition reads no value. */
  readonly unindexed: readonly number[]
}

/**
 * A group of flags that were indexed together, without the flags that have been changed or removed
 * since.
 */
export interface Shard {
  readonly group: FlagGroup
  /** The set of the rule rows that can match. */
  readonly possible: Int32Array
  /**
   * Four numbers for each flag: its first rule row, the end of its rule rows, the bits of its rule
   * rows in the word of the first row, and the index of the flag in the flag set.
   */
  readonly flags: Int32Array
  /** The end in `flags` of the flags with all rule rows in one word. The other flags follow. */
  readonly oneWord: number
  readonly slots: IndexSlots
  /** For each of `group.table.bucketingKeys`, its index in `RuleMatrix.sources`. */
  readonly bucketingSlots: readonly number[]
  /** For each of `group.index.segmentIds`, its index in `RuleMatrix.segments`. */
  readonly segmentSlots: readonly number[]
}

/** Flags with targets or rules, and the index of these. */
export interface FlagGroup {
  readonly flags: readonly CompiledFlag[]
  /**
   * Two numbers for each flag: its first rule row and the end of its rule rows. The rows of a flag
   * either are all in one word, or start at the beginning of a word.
   */
  readonly spans: Int32Array
  /**
   * The result of the target or rule of each rule row. `undefined` for an unused row, which is
   * inserted so that the rows of the next flag start at the beginning of a word.
   */
  readonly serves: readonly (Serve | undefined)[]
  readonly index: ConditionIndex
  readonly table: OutcomeTable
}

/** Compiles the rule matrix of a flag set incrementally. Reuses unchanged groups of `previous`. */
export function* compileRuleMatrix(
  flagSet: FlagSet,
  previous: RuleMatrix | undefined,
): Incremental<RuleMatrix> {
  const { flags: served, flagsByKey, flagsById, malformed, segments, dependencies } = flagSet
  const hidden = [...flagsByKey.values()].filter(({ key }) => !served.has(key))
  const flags = [...flagSet.ordered, ...hidden]
  const positions = new Map(flags.map((flag, position) => [flag, position]))
  const active = flags.filter(({ key, isActive }) => isActive && !malformed.has(key))
  const indexed = active.filter(({ rules, targets }) => rules.length + targets.length > 0)
  yield
  const groups = yield* groupsOf(indexed, previous?.shards.map(({ group }) => group) ?? [])
  yield
  const sources: ValueSource[] = []
  const slots = new Map<string, number>()
  const slotOf = (source: ValueSource | undefined) => {
    return source === undefined ? -1 : getOrMake(slots, source.name, () => sources.push(source) - 1)
  }
  const slotsOf = ({ values, unindexed }: ConditionIndex): IndexSlots => {
    return {
      values: values.map(({ source }) => slotOf(source)),
      unindexed: unindexed.map(({ source }) => slotOf(source)),
    }
  }
  const segmentIds = new Set(groups.flatMap(({ index }) => index.segmentIds))
  const find = (id: string) => {
    return dependencies.unresolvable.has(segmentName(id)) ? undefined : segments.get(id)
  }
  const indexedSegments = indexSegments([...segmentIds], find, previous?.segments)
  const segmentSlots = new Map(indexedSegments.ids.map((id, slot) => [id, slot]))
  const places = new Map(indexed.map((flag) => [flag, positions.get(flag) ?? 0]))
  const shards = groups.map((group): Shard => {
    return {
      group,
      ...remainderOf(group, places),
      slots: slotsOf(group.index),
      bucketingSlots: group.table.bucketingKeys.map((key) => slotOf(attributeSource(key, true))),
      segmentSlots: group.index.segmentIds.map((id) => segmentSlots.get(id) ?? 0),
    }
  })
  yield
  return {
    shards,
    segments: indexedSegments,
    segmentSlots: slotsOf(indexedSegments.index),
    keySlots: indexedSegments.segments.map(({ keys }) => slotOf(keys)),
    sources,
    initial: Int32Array.from(flags, (flag) => initialOf(flag, malformed.has(flag.key)).code),
    prerequisites: compilePrerequisites(active, flagsById, positions),
  }
}

type Positions = ReadonlyMap<CompiledFlag, number>

function initialOf(flag: CompiledFlag, isMalformed: boolean): Outcome {
  if (!flag.isActive) return flag.disabled
  return isMalformed ? flag.malformed : flag.fallback
}

/** The minimum number of changed flags that are split into two groups. */
const MIN_APART = 32

/**
 * Returns at most three groups that contain all flags. The first group is reused until the added
 * and removed flags exceed half of all flags. The second group contains the added flags. It is
 * reused while only a few more flags are added, and the third group contains these.
 */
function* groupsOf(
  flags: readonly CompiledFlag[],
  [many, some]: readonly FlagGroup[],
): Incremental<readonly FlagGroup[]> {
  const late = lateFor(flags, many, flags.length / 2)
  if (many === undefined || late === undefined) return [yield* groupOf(flags)]
  if (late.length === 0) return [many]
  // A trade-off between the cost of one change and the number of times the second group is rebuilt.
  const few = late.length < MIN_APART ? 0 : Math.sqrt(8 * late.length)
  const latest = lateFor(late, some, few)
  if (some === undefined || latest === undefined) return [many, yield* groupOf(late)]
  return latest.length === 0 ? [many, some] : [many, some, yield* groupOf(latest)]
}

/**
 * Returns the flags that are not in the group, or `undefined` if more than `most` flags were added
 * or removed in total.
 */
function lateFor(
  flags: readonly CompiledFlag[],
  group: FlagGroup | undefined,
  most: number,
): readonly CompiledFlag[] | undefined {
  const known = new Set(group?.flags)
  const late = flags.filter((flag) => !known.has(flag))
  const gone = known.size + late.length - flags.length
  return late.length + gone > most ? undefined : late
}

/** The number of flags whose parts are collected without interruption. */
const FLAGS_PER_CHUNK = 1024

/** A target or rule of a flag. */
interface Part {
  readonly serve: Serve
  readonly row: () => RuleRow | undefined
}

function partsOf({ targets, rules }: CompiledFlag): readonly Part[] {
  const ofTargets = targets.map((target): Part => {
    const { variationId, outcome } = target
    return { serve: { kind: 'variation', variationId, outcome }, row: () => targetRow(target) }
  })
  const effective = rules.filter(({ serve }) => serve.kind !== 'nothing')
  const ofRules = effective.map(({ serve, conditions, definition }): Part => {
    const { conditions: definitions, segmentId } = definition
    return { serve, row: () => conditionsRow(conditions, definitions, segmentId) }
  })
  return [...ofTargets, ...ofRules]
}

/** Sorts flags by the phases of their rollouts, so that those of one phase are hashed together. */
function byPhase(flags: readonly CompiledFlag[]): readonly CompiledFlag[] {
  const phases = new Map<string, CompiledFlag[]>()
  for (const flag of flags) getOrMake(phases, phaseOf(flag), () => []).push(flag)
  return [...phases.values()].flat()
}

function phaseOf({ rules }: CompiledFlag): string {
  for (const { serve } of rules) {
    if (serve.kind === 'rollout')
      return `${serve.rollout.salt.state.length % 4} ${serve.rollout.bucketBy.name}`
  }
  return ''
}

function* groupOf(unsorted: readonly CompiledFlag[]): Incremental<FlagGroup> {
  const flags = byPhase(unsorted)
  yield
  const spans = new Int32Array(2 * flags.length)
  const parts: (Part | undefined)[] = []
  for (const [number, flag] of flags.entries()) {
    if (number % FLAGS_PER_CHUNK === FLAGS_PER_CHUNK - 1) yield
    const own = partsOf(flag)
    if ((parts.length & 31) + own.length > 32)
      while ((parts.length & 31) !== 0) parts.push(undefined)
    spans[2 * number] = parts.length
    for (const part of own) parts.push(part)
    spans[2 * number + 1] = parts.length
  }
  yield
  const serves = parts.map((part) => part?.serve)
  const table = compileOutcomeTable(serves)
  yield
  const index = yield* indexRuleRows(parts, (part) => part?.row())
  return { flags, spans, serves, index, table }
}

type Remainder = Pick<Shard, 'possible' | 'flags' | 'oneWord'>

/** Returns the flags of a group that still exist, and the set of their rule rows that can match. */
function remainderOf({ flags, spans, index }: FlagGroup, positions: Positions): Remainder {
  const possible = index.possible.slice()
  const oneWord: number[] = []
  const several: number[] = []
  for (const [number, flag] of flags.entries()) {
    const position = positions.get(flag)
    const start = spans[2 * number] ?? 0
    const end = spans[2 * number + 1] ?? 0
    const own = 2 ** Math.min(32, end - start) - 1
    const list = end - start > 32 ? several : oneWord
    if (position === undefined) clear(possible, start, end)
    else list.push(start, end, own << (start & 31), position)
  }
  return { possible, flags: Int32Array.from([...oneWord, ...several]), oneWord: oneWord.length }
}
