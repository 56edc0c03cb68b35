import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import type { Outcome } from '../evaluation/outcome.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import type { AttributeReference } from '../model/attribute.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { Incremental } from '../model/incremental.ts'
import { clear } from './bit-set.ts'
import { type ConditionIndex, indexRuleRows } from './condition-index.ts'
import { compileOutcomeTable, type OutcomeTable } from './outcome-table.ts'
import { indexSegments, type SegmentIndex } from './segment-index.ts'

/**
 * The rules of many flags, indexed so that they can be evaluated together. Flags that change later
 * are indexed separately, until there are many of them. This makes changes cheap, and hardly slows
 * down evaluations.
 */
export interface RuleMatrix {
  /** At most three shards: most flags, then flags that changed later, then the latest changes. */
  readonly shards: readonly Shard[]
  /** The attributes that the shards and the segment index read, without duplicates. */
  readonly references: readonly AttributeReference[]
  /** The ids of the segments that rules in the shards require, without duplicates. */
  readonly segmentIds: readonly string[]
  /** The index of the segments that are evaluated together. */
  readonly segments: IndexedSegments
  /** The outcome code of each flag if no rule serves a variation. */
  readonly initial: Int32Array
  /** The indexes of the flags that are evaluated one by one. */
  readonly others: readonly number[]
}

/** The segment index of a rule matrix. */
export interface IndexedSegments extends SegmentIndex {
  /** For each of `index.attributes`, its index in `RuleMatrix.references`. */
  readonly attributeSlots: readonly number[]
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
  /** For each of `group.index.attributes`, its index in `RuleMatrix.references`. */
  readonly attributeSlots: readonly number[]
  /** For each of `group.index.segmentIds`, its index in `RuleMatrix.segmentIds`. */
  readonly segmentSlots: readonly number[]
}

/** Flags with rules, and the index of their rules. */
export interface FlagGroup {
  readonly flags: readonly CompiledFlag[]
  /**
   * Two numbers for each flag: its first rule row and the end of its rule rows. The rows of a flag
   * either are all in one word, or start at the beginning of a word.
   */
  readonly spans: Int32Array
  /**
   * The rule of each rule row (see `condition-index.ts`). `undefined` for an unused row, which is
   * inserted so that the rows of the next flag start at the beginning of a word.
   */
  readonly rules: readonly (CompiledRule | undefined)[]
  readonly index: ConditionIndex
  readonly table: OutcomeTable
}

/** Compiles the rule matrix of a flag set incrementally. Reuses unchanged groups of `previous`. */
export function* compileRuleMatrix(
  flagSet: FlagSet,
  previous: RuleMatrix | undefined,
): Incremental<RuleMatrix> {
  const { ordered, malformed, segments } = flagSet
  const initial = new Int32Array(ordered.length)
  const others: number[] = []
  const positions = new Map<CompiledFlag, number>()
  for (const [position, flag] of ordered.entries()) {
    const isMalformed = malformed.has(flag.key)
    initial[position] = initialOf(flag, isMalformed).code
    // A malformed flag is never evaluated, because it can depend on itself.
    if (!flag.isActive || isMalformed) continue
    if (!flag.isPlain) others.push(position)
    else if (flag.rules.length > 0) positions.set(flag, position)
  }
  const references: AttributeReference[] = []
  const slots = new Map<string, number>()
  const slotsOf = ({ attributes }: ConditionIndex) => {
    return attributes.map(({ reference }) => {
      return getOrMake(slots, reference.name, () => references.push(reference) - 1)
    })
  }
  const segmentIds: string[] = []
  const slotsOfSegments = new Map<string, number>()
  const slotOfSegment = (id: string) => {
    return getOrMake(slotsOfSegments, id, () => segmentIds.push(id) - 1)
  }
  const before = previous?.shards.map(({ group }) => group) ?? []
  const groups = yield* groupsOf([...positions.keys()], before)
  yield
  const shards = groups.map((group): Shard => {
    return {
      group,
      ...remainderOf(group, positions),
      attributeSlots: slotsOf(group.index),
      segmentSlots: group.index.segmentIds.map(slotOfSegment),
    }
  })
  const required = segmentIds.map((id) => segments.get(id))
  const indexed = indexSegments(required, previous?.segments)
  return {
    shards,
    references,
    segmentIds,
    segments: { ...indexed, attributeSlots: slotsOf(indexed.index) },
    initial,
    others,
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

function* groupOf(flags: readonly CompiledFlag[]): Incremental<FlagGroup> {
  const spans = new Int32Array(2 * flags.length)
  const rules: (CompiledRule | undefined)[] = []
  for (const [number, flag] of flags.entries()) {
    const own = flag.rules.filter(({ serve }) => serve.kind !== 'nothing')
    if ((rules.length & 31) + own.length > 32)
      while ((rules.length & 31) !== 0) rules.push(undefined)
    spans[2 * number] = rules.length
    for (const rule of own) rules.push(rule)
    spans[2 * number + 1] = rules.length
  }
  yield
  const table = compileOutcomeTable(rules)
  yield
  const rows = rules.map((rule) => {
    if (rule === undefined) return undefined
    const { conditions: definitions, segmentId } = rule.definition
    return { conditions: rule.conditions, definitions, segmentId }
  })
  return { flags, spans, rules, index: yield* indexRuleRows(rows), table }
}

type Remainder = Pick<Shard, 'possible' | 'flags'>

/** Returns the flags of a group that still exist, and the set of their rule rows that can match. */
function remainderOf({ flags, spans, index }: FlagGroup, positions: Positions): Remainder {
  const possible = index.possible.slice()
  const there: number[] = []
  for (const [number, flag] of flags.entries()) {
    const position = positions.get(flag)
    const start = spans[2 * number] ?? 0
    const end = spans[2 * number + 1] ?? 0
    const own = 2 ** Math.min(32, end - start) - 1
    if (position === undefined) clear(possible, start, end)
    else there.push(start, end, own << (start & 31), position)
  }
  return { possible, flags: Int32Array.from(there) }
}
