import { type AttributeReference, readAttribute } from './attribute.ts'
import {
  type AttributeIndex,
  keepForMissing,
  keepForText,
  keepForValue,
} from './attribute-index.ts'
import { endOf, has, intersects, lowestBit, subtract, wordFrom } from './bit-set.ts'
import type { BucketingKey } from './bucket.ts'
import { scalarText } from './comparison.ts'
import { type ConditionScope, matchesCondition } from './condition.ts'
import type { JsonValue } from './json.ts'
import type { Outcome } from './outcome.ts'
import type { FlagGroup, Program, Shard } from './program.ts'
import type { CompiledRule } from './rule.ts'
import { codeIn, ELSEWHERE, NOTHING } from './serving-table.ts'

/** Who knows what a program does not. */
export interface RuleScope extends ConditionScope {
  /** What a rule that matches serves; undefined: nothing to this context. */
  serveRule(rule: CompiledRule): Outcome | undefined
  /** The key of the context to place it by; undefined: it has none. */
  readKey(bucketBy: AttributeReference): BucketingKey | undefined
}

/** Runs a program, again and again, in the same working memory. */
export class ProgramRunner {
  readonly #program: Program
  readonly #scope: RuleScope
  readonly #values: (JsonValue | undefined)[]
  /** undefined: the attribute is missing, or an array or object. */
  readonly #texts: (string | undefined)[]
  /** 0: not known yet; 1: in it; -1: not. */
  readonly #segments: Int8Array
  /** The rows of the shard at work; after judging only those that hold. */
  readonly #rows: Int32Array
  /** Of each flag that takes more than a look into a table: its place, its row and its entry. */
  readonly #waiting: Int32Array
  /** The states of the salts of their rollouts, and then their buckets. */
  readonly #buckets: Int32Array
  #count = 0

  constructor(program: Program, scope: RuleScope) {
    const { shards, references, segmentIds } = program
    const flags = shards.reduce((most, shard) => Math.max(most, shard.flags.length / 4), 0)
    this.#program = program
    this.#scope = scope
    this.#values = references.map(() => undefined)
    this.#texts = references.map(() => undefined)
    this.#segments = new Int8Array(segmentIds.length)
    const words = shards.reduce(
      (most, { possible }) => Math.max(most, possible.length),
      program.segments.index.words,
    )
    // One word more, because rows are looked at 32 at a time.
    this.#rows = new Int32Array(words + 1)
    // Each is noted before it is known whether it has to wait, and buckets are found four by four.
    this.#waiting = new Int32Array(3 * (flags + 1))
    this.#buckets = new Int32Array(flags + 4)
  }

  /** Puts the codes of what rules serve into `codes`; the first flag's place is `from`. */
  run(codes: Int32Array, from: number): void {
    this.#read()
    this.#judgeSegments()
    for (const shard of this.#program.shards) {
      this.#judge(shard)
      this.#serve(shard, codes, from)
    }
    this.#values.fill(undefined)
    this.#texts.fill(undefined)
    this.#segments.fill(0)
  }

  #read(): void {
    const { references } = this.#program
    for (let slot = 0; slot < references.length; slot += 1) {
      const reference = references[slot]
      if (reference === undefined) continue
      const value = readAttribute(this.#scope.context, reference)
      this.#values[slot] = value
      this.#texts[slot] = value === undefined ? undefined : scalarText(value)
    }
  }

  #judgeSegments(): void {
    const { segments, index, rows, attributeSlots } = this.#program.segments
    this.#keepRows(index.possible, index.attributes, attributeSlots)
    let at = 0
    for (let slot = 0; slot < segments.length; slot += 1) {
      // Whom no condition holds for is in a segment that is joined by NOT.
      const isForNone = segments[slot]?.definition.logicalOp === 'NOT'
      const isIn = intersects(this.#rows, rows, at) !== isForNone
      if (rows[at] !== 0) this.#segments[slot] = isIn ? 1 : -1
      at = endOf(rows, at)
    }
  }

  /** Leaves in `#rows` those of the possible rows whose conditions on texts hold. */
  #keepRows(
    possible: Int32Array,
    attributes: readonly AttributeIndex[],
    attributeSlots: readonly number[],
  ): void {
    const rows = this.#rows
    rows.set(possible)
    for (let number = 0; number < attributes.length; number += 1) {
      const attribute = attributes[number]
      const slot = attributeSlots[number] ?? 0
      const text = this.#texts[slot]
      const value = this.#values[slot]
      if (attribute === undefined) continue
      if (text !== undefined) keepForText(attribute, text, rows)
      else if (value === undefined) keepForMissing(attribute, rows)
      else keepForValue(attribute, value, rows)
    }
  }

  /** Leaves in `#rows` the rows of the shard that hold. */
  #judge({ group, possible, attributeSlots, segmentSlots }: Shard): void {
    const { attributes, segmentIds, neededBySegment, judged } = group.index
    const rows = this.#rows
    this.#keepRows(possible, attributes, attributeSlots)
    let at = 0
    for (let number = 0; number < segmentIds.length; number += 1) {
      const slot = segmentSlots[number] ?? 0
      const isAsked = intersects(rows, neededBySegment, at)
      if (isAsked && !this.#isIn(slot)) subtract(rows, neededBySegment, at)
      at = endOf(neededBySegment, at)
    }
    for (const { condition, neededBy } of judged) {
      const isAsked = intersects(rows, neededBy, 0)
      if (isAsked && !matchesCondition(condition, this.#scope)) subtract(rows, neededBy, 0)
    }
  }

  #isIn(slot: number): boolean {
    if (this.#segments[slot] === 0) {
      const isIn = this.#scope.isInSegment(this.#program.segmentIds[slot] ?? '')
      this.#segments[slot] = isIn ? 1 : -1
    }
    return this.#segments[slot] === 1
  }

  /** Takes for each flag the code of the first of its rules that holds and serves. */
  #serve(shard: Shard, codes: Int32Array, from: number): void {
    this.#takeFirst(shard, codes, from)
    if (this.#count === 0) return
    const { bucketBy } = shard.group.table
    const key = bucketBy === undefined ? undefined : this.#scope.readKey(bucketBy)
    const isHashed = key?.isMixed === true
    // All rollouts wait for one another, to be hashed together.
    if (isHashed) key.bucketAll(this.#buckets, this.#count)
    this.#takeOthers(shard, codes, from, isHashed)
  }

  /**
   * Takes what the first row that holds says, if that is a code; the other flags have to wait.
   * Nobody can foresee which these are, so nothing here branches on it.
   */
  #takeFirst({ group, flags }: Shard, codes: Int32Array, from: number): void {
    const { entries } = group.table
    const rows = this.#rows
    const waiting = this.#waiting
    const buckets = this.#buckets
    let count = 0
    for (let flag = 0; flag < flags.length; flag += 4) {
      const start = flags[flag] ?? 0
      const bits = wordFrom(rows, start) & (flags[flag + 2] ?? 0)
      // The rows beyond these 32, if it has as many, are for those who wait.
      const row = bits === 0 ? start + 32 : start + lowestBit(bits)
      if (row >= (flags[flag + 1] ?? 0)) continue
      const entry = bits === 0 ? ELSEWHERE : (entries[row] ?? 0)
      codes[from + (flags[flag + 3] ?? 0)] = entry
      waiting[3 * count] = flag
      waiting[3 * count + 1] = row
      waiting[3 * count + 2] = entry
      buckets[count] = entries[~entry & (entry >> 31)] ?? 0
      count += entry >>> 31
    }
    this.#count = count
  }

  #takeOthers(shard: Shard, codes: Int32Array, from: number, isHashed: boolean): void {
    const { group, flags } = shard
    const { entries } = group.table
    const waiting = this.#waiting
    const buckets = this.#buckets
    const count = this.#count
    for (let index = 0; index < count; index += 1) {
      const flag = waiting[3 * index] ?? 0
      const entry = waiting[3 * index + 2] ?? 0
      const position = flags[flag + 3] ?? 0
      const isFound = isHashed && entry !== ELSEWHERE
      const code = isFound ? codeIn(entries, ~entry, buckets[index] ?? 0) : NOTHING
      codes[from + position] = code
      if (code !== NOTHING) continue
      const row = (waiting[3 * index + 1] ?? 0) + (isFound ? 1 : 0)
      const served = this.#firstServed(group, row, flags[flag + 1] ?? 0)
      codes[from + position] = served === NOTHING ? (this.#program.initial[position] ?? 0) : served
    }
  }

  /** The code of the first row, from `start` to before `end`, that holds and serves. */
  #firstServed({ rules, table }: FlagGroup, start: number, end: number): number {
    for (let row = start; row < end; row += 1) {
      if (!has(this.#rows, row)) continue
      const entry = table.entries[row] ?? ELSEWHERE
      const code = entry >= 0 ? entry : this.#serveElsewhere(rules[row])
      if (code !== NOTHING) return code
    }
    return NOTHING
  }

  #serveElsewhere(rule: CompiledRule | undefined): number {
    const outcome = rule === undefined ? undefined : this.#scope.serveRule(rule)
    return outcome === undefined ? NOTHING : outcome.code
  }
}
