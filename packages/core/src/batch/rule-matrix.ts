import type { CompiledFlag } from '../evaluation/flag.ts'
import type { FlagSet } from '../evaluation/flag-set.ts'
import type { Outcome } from '../evaluation/outcome.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import type { AttributeReference } from '../model/attribute.ts'
import type { Incremental } from '../model/incremental.ts'
import { clear } from './bit-set.ts'
import { type ConditionIndex, indexRuleRows } from './condition-index.ts'
import { compileOutcomeTable, type OutcomeTable } from './outcome-table.ts'
import { indexSegments, type SegmentIndex } from './segment-index.ts'

/**
 * The rules of all flags, made ready to be judged together. What changes is indexed apart from the
 * many that stay, until it is much; so a change costs little, and evaluation hardly more.
 */
export interface RuleMatrix {
  /** All flags once, those that came later, and those that came later still. */
  readonly shards: readonly Shard[]
  /** The attributes that some shard asks about, each once. */
  readonly references: readonly AttributeReference[]
  /** The segments that some shard asks about, each once. */
  readonly segmentIds: readonly string[]
  /** The same, as far as they are judged together. */
  readonly segments: IndexedSegments
  /** The codes of the flags' outcomes as long as no rule serves anything, by position. */
  readonly initial: Int32Array
  /** The positions of the flags that no shard can answer for. */
  readonly others: readonly number[]
}

/** The index of segments within a program. */
export interface IndexedSegments extends SegmentIndex {
  /** For each attribute of the index its number among those of the program. */
  readonly attributeSlots: readonly number[]
}

/** Flags that were indexed together, as far as they are still there. */
export interface Shard {
  readonly group: FlagGroup
  /** The words of the rows that can hold at all. */
  readonly possible: Int32Array
  /**
   * For each flag four numbers: its first row, the end of its rows, which bits of the first row's
   * word are its rows, and its position among all flags.
   */
  readonly flags: Int32Array
  /** For each attribute of the index its number among those of the program. */
  readonly attributeSlots: readonly number[]
  /** For each segment of the index its number among those of the program. */
  readonly segmentSlots: readonly number[]
}

/** Some flags with rules, and their index. */
export interface FlagGroup {
  readonly flags: readonly CompiledFlag[]
  /**
   * For each flag its first row and the end of its rows; its rules have one each, in their order.
   * They are all in one word, or begin with one.
   */
  readonly spans: Int32Array
  /** By row; undefined: nobody's. */
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
    // What is malformed may lead round in circles.
    if (!flag.isActive || isMalformed) continue
    if (!flag.isPlain) others.push(position)
    else if (flag.rules.length > 0) positions.set(flag, position)
  }
  const references = new Numbering((reference: AttributeReference) => reference.name)
  const segmentIds = new Numbering((id: string) => id)
  const slotsOf = ({ attributes }: ConditionIndex) => {
    return attributes.map(({ reference }) => references.numberOf(reference))
  }
  const before = previous?.shards.map(({ group }) => group) ?? []
  const groups = yield* groupsOf([...positions.keys()], before)
  yield
  const shards = groups.map((group): Shard => {
    return {
      group,
      ...stillThere(group, positions),
      attributeSlots: slotsOf(group.index),
      segmentSlots: group.index.segmentIds.map((id) => segmentIds.numberOf(id)),
    }
  })
  const asked = segmentIds.all.map((id) => segments.get(id))
  const indexed = indexSegments(asked, previous?.segments)
  return {
    shards,
    references: references.all,
    segmentIds: segmentIds.all,
    segments: { ...indexed, attributeSlots: slotsOf(indexed.index) },
    initial,
    others,
  }
}

type Positions = ReadonlyMap<CompiledFlag, number>

/** Gives things numbers, in the order in which they are met. */
class Numbering<Thing> {
  readonly all: Thing[] = []
  readonly #numbers = new Map<string, number>()
  readonly #nameOf: (thing: Thing) => string

  constructor(nameOf: (thing: Thing) => string) {
    this.#nameOf = nameOf
  }

  numberOf(thing: Thing): number {
    const name = this.#nameOf(thing)
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.all.length)
    return this.all.push(thing) - 1
  }
}

function initialOf(flag: CompiledFlag, isMalformed: boolean): Outcome {
  if (!flag.isActive) return flag.disabled
  return isMalformed ? flag.malformed : flag.fallback
}

/** Fewer are better indexed together than judged apart. */
const MIN_APART = 32

/**
 * The group that most flags are in stays as it is, until so many came or went that half of it is
 * gone or beside it. Of those who came, the many stay as well while a few come.
 */
function* groupsOf(
  flags: readonly CompiledFlag[],
  [many, some]: readonly FlagGroup[],
): Incremental<readonly FlagGroup[]> {
  const late = lateFor(flags, many, flags.length / 2)
  if (many === undefined || late === undefined) return [yield* groupOf(flags)]
  if (late.length === 0) return [many]
  // So that what one change costs and how often they are indexed anew are in balance.
  const few = late.length < MIN_APART ? 0 : Math.sqrt(8 * late.length)
  const latest = lateFor(late, some, few)
  if (some === undefined || latest === undefined) return [many, yield* groupOf(late)]
  return latest.length === 0 ? [many, some] : [many, some, yield* groupOf(latest)]
}

/** The flags that the group has not; undefined: more than `most` came or went since it was made. */
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

/** Nobody may ask for the rows of flags that are gone: what they need may be gone, too. */
function stillThere({ flags, spans, index }: FlagGroup, positions: Positions): Remainder {
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
