import type { AttributeReference } from './attribute.ts'
import { type ConditionIndex, indexRows } from './condition-index.ts'
import type { CompiledFlag } from './flag.ts'
import type { Outcome } from './outcome.ts'
import type { CompiledRule } from './rule.ts'
import { type ServingTable, tabulate } from './serving-table.ts'

/**
 * The rules of all flags, made ready to be judged together. Flags are dealt to shards by their
 * keys, so that after a change only the shards of the changed flags have to be made anew.
 */
export interface Program {
  readonly shards: readonly Shard[]
  /** The attributes that some shard asks about, each once. */
  readonly references: readonly AttributeReference[]
  /** The segments that some shard asks about, each once. */
  readonly segmentIds: readonly string[]
  /** The codes of the flags' outcomes as long as no rule serves anything, by position. */
  readonly initial: Int32Array
  /** The positions of the flags that no shard can answer for. */
  readonly others: readonly number[]
}

/** Some flags with rules. */
export interface Shard {
  readonly flags: readonly CompiledFlag[]
  /** The first row of each flag, whose rules have one each, in their order; then the end. */
  readonly starts: Int32Array
  /** By row. */
  readonly rules: readonly CompiledRule[]
  readonly index: ConditionIndex
  readonly table: ServingTable
  /** For each attribute of the index its number among those of the program. */
  readonly attributeSlots: readonly number[]
  /** For each segment of the index its number among those of the program. */
  readonly segmentSlots: readonly number[]
  /** For each flag its position among all flags. */
  readonly positions: Int32Array
}

/** Small enough to be made anew in no time, large enough to share the work. */
const FLAGS_PER_SHARD = 128

/** What a program is made of. */
export interface ProgramParts {
  readonly ordered: readonly CompiledFlag[]
  readonly malformed: ReadonlySet<string>
  readonly previous: Program | undefined
}

export function compileProgram({ ordered, malformed, previous }: ProgramParts): Program {
  const initial = new Int32Array(ordered.length)
  const others: number[] = []
  const indexed: PlacedFlag[] = []
  for (const [position, flag] of ordered.entries()) {
    const isMalformed = malformed.has(flag.key)
    initial[position] = initialOf(flag, isMalformed).code
    // What is malformed may lead round in circles.
    if (!flag.isActive || isMalformed) continue
    if (!flag.isPlain) others.push(position)
    else if (flag.rules.length > 0) indexed.push({ flag, position })
  }
  const references = new Numbering((reference: AttributeReference) => reference.name)
  const segmentIds = new Numbering((id: string) => id)
  const shards = deal(indexed).map((placed, number) => {
    const content = compileShard(placed, previous?.shards[number])
    const { attributes, segmentIds: ids } = content.index
    return {
      ...content,
      attributeSlots: attributes.map(({ reference }) => references.numberOf(reference)),
      segmentSlots: ids.map((id) => segmentIds.numberOf(id)),
      positions: Int32Array.from(placed, ({ position }) => position),
    }
  })
  return { shards, references: references.all, segmentIds: segmentIds.all, initial, others }
}

interface PlacedFlag {
  readonly flag: CompiledFlag
  readonly position: number
}

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

/** By a number made of the key, so that a flag that comes or goes changes one shard only. */
function deal(flags: readonly PlacedFlag[]): readonly PlacedFlag[][] {
  let count = 1
  while (count * FLAGS_PER_SHARD < flags.length) count *= 2
  const shards = Array.from({ length: count }, (): PlacedFlag[] => [])
  for (const placed of flags) shards[numberOf(placed.flag.key) & (count - 1)]?.push(placed)
  return shards
}

function numberOf(key: string): number {
  let hash = 0
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  }
  return hash ^ (hash >>> 15)
}

type ShardContent = Pick<Shard, 'flags' | 'starts' | 'rules' | 'index' | 'table'>

function compileShard(placed: readonly PlacedFlag[], previous: Shard | undefined): ShardContent {
  const flags = placed.map(({ flag }) => flag)
  if (previous !== undefined && hasFlags(previous, flags)) return previous
  const starts = new Int32Array(flags.length + 1)
  for (const [index, { rules }] of flags.entries()) {
    starts[index + 1] = (starts[index] ?? 0) + rules.length
  }
  const rules = flags.flatMap((flag) => flag.rules)
  const rows = rules.map(({ conditions, definition }) => {
    const { conditions: definitions, segmentId } = definition
    return { conditions, definitions, segmentId }
  })
  return { flags, starts, rules, index: indexRows(rows), table: tabulate(rules) }
}

function hasFlags({ flags: known }: Shard, flags: readonly CompiledFlag[]): boolean {
  return known.length === flags.length && known.every((flag, index) => flag === flags[index])
}
