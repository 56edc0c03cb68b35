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
 * The rules of all flags, indexed to be evaluated together. Changed flags are indexed apart from the
 * many unchanged ones until there are many of them, so a change costs little and evaluation hardly
 * more.
 */
export interface RuleMatrix {
  /** Most flags, then those that changed later, then those that changed last. */
  readonly shards: readonly Shard[]
  /** The attributes that some shard reads, each once. */
  readonly references: readonly AttributeReference[]
  /** The ids of the segments that some shard reads, each once. */
  readonly segmentIds: readonly string[]
  /** The index of those segments that are evaluated together. */
  readonly segments: IndexedSegments
  /** By position of the flag, the outcome code if no rule serves anything. */
  readonly initial: Int32Array
  /** The positions of the flags that are evaluated one by one. */
  readonly others: readonly number[]
}

/** The segment index within a rule matrix. */
export interface IndexedSegments extends SegmentIndex {
  /** For each attribute of the index its number among those of the rule matrix. */
  readonly attributeSlots: readonly number[]
}

/** Flags that were indexed together and still exist unchanged. */
export interface Shard {
  readonly group: FlagGroup
  /** The words of the rule rows that can hold at all. */
  readonly possible: Int32Array
  /**
   * For each flag four numbers: its first rule row, the end of its rule rows, the bits of its rule
   * rows in the word of the first, and its position among all flags.
   */
  readonly flags: Int32Array
  /** For each attribute of the index its number among those of the rule matrix. */
  readonly attributeSlots: readonly number[]
  /** For each segment of the index its number among those of the rule matrix. */
  readonly segmentSlots: readonly number[]
}

/** Flags with rules, and the index of their rules. */
export interface FlagGroup {
  readonly flags: readonly CompiledFlag[]
  /**
   * For each flag its first rule row and the end of its rule rows; each of its rules has one, in
   * their order. They lie in one word, or begin with a word.
   */
  readonly spans: Int32Array
  /** By rule row; `undefined` for a row that fills up a word. */
  readonly rules: readonly (CompiledRule | undefined)[]
  readonly index: ConditionIndex
  readonly table: OutcomeTable
}

/** Compiles the rule matrix of a flag set incrementally, from that of the previous version. */
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
    // A malformed flag may depend on itself.
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
  const asked = segmentIds.map((id) => segments.get(id))
  const indexed = indexSegments(asked, previous?.segments)
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

/** Fewer changed flags than these are indexed again with each change. */
const MIN_APART = 32

/**
 * Keeps the group of most flags until the added and removed ones exceed half of all flags. The group
 * of the added ones is kept in the same way while only few are added.
 */
function* groupsOf(
  flags: readonly CompiledFlag[],
  [many, some]: readonly FlagGroup[],
): Incremental<readonly FlagGroup[]> {
  const late = lateFor(flags, many, flags.length / 2)
  if (many === undefined || late === undefined) return [yield* groupOf(flags)]
  if (late.length === 0) return [many]
  // Balances the cost of one change against how often the added flags are indexed again.
  const few = late.length < MIN_APART ? 0 : Math.sqrt(8 * late.length)
  const latest = lateFor(late, some, few)
  if (some === undefined || latest === undefined) return [many, yield* groupOf(late)]
  return latest.length === 0 ? [many, some] : [many, some, yield* groupOf(latest)]
}

/** The flags that are not in the group; `undefined` if more than `most` were added or removed since. */
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

/** Clears the rule rows of removed flags: the segments that they read may be gone as well. */
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
