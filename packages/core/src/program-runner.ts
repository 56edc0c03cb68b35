import { type AttributeReference, readAttribute } from './attribute.ts'
import { keepForMissing, keepForText, keepForValue } from './attribute-index.ts'
import { endOf, intersects, lowestBit, subtract } from './bit-set.ts'
import type { BucketingKey } from './bucket.ts'
import { scalarText } from './comparison.ts'
import { type ConditionScope, matchesCondition } from './condition.ts'
import type { JsonValue } from './json.ts'
import type { Outcome } from './outcome.ts'
import type { Program, Shard } from './program.ts'
import type { CompiledRule } from './rule.ts'
import { codeIn, ELSEWHERE, NOTHING, ROLLOUT } from './serving-table.ts'

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
  /** The flags that a rollout answers for, the rows of its rule, its places and its states. */
  readonly #flags: Int32Array
  readonly #waiting: Int32Array
  readonly #places: Int32Array
  readonly #buckets: Int32Array
  #count = 0

  constructor(program: Program, scope: RuleScope) {
    const { shards, references, segmentIds } = program
    const flags = shards.reduce((most, shard) => Math.max(most, shard.flags.length), 0)
    this.#program = program
    this.#scope = scope
    this.#values = references.map(() => undefined)
    this.#texts = references.map(() => undefined)
    this.#segments = new Int8Array(segmentIds.length)
    this.#rows = new Int32Array(shards.reduce((most, { index }) => Math.max(most, index.words), 0))
    this.#flags = new Int32Array(flags)
    this.#waiting = new Int32Array(flags)
    this.#places = new Int32Array(flags)
    // Buckets are found four by four.
    this.#buckets = new Int32Array(flags + 3)
  }

  /** Puts the codes of what rules serve into `codes`; the first flag's place is `from`. */
  run(codes: Int32Array, from: number): void {
    this.#read()
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

  /** Leaves in `#rows` the rows of the shard that hold. */
  #judge({ index, attributeSlots, segmentSlots }: Shard): void {
    const { words, possible, attributes, segmentIds, neededBySegment, judged } = index
    const rows = this.#rows
    for (let word = 0; word < words; word += 1) rows[word] = possible[word] ?? 0
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
    let at = 0
    for (let number = 0; number < segmentIds.length; number += 1) {
      const isAsked = intersects(rows, neededBySegment, at)
      if (isAsked && !this.#isIn(segmentSlots[number] ?? 0)) subtract(rows, neededBySegment, at)
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
    const { starts, positions, table } = shard
    const key = table.bucketBy === undefined ? undefined : this.#scope.readKey(table.bucketBy)
    // All rollouts wait for one another, to be hashed together.
    const canWait = key?.isMixed === true
    this.#count = 0
    for (let flag = 0; flag < positions.length; flag += 1) {
      const code = this.#firstServed(shard, flag, starts[flag] ?? 0, canWait)
      if (code >= 0) codes[from + (positions[flag] ?? 0)] = code
    }
    if (this.#count === 0) return
    key?.bucketAll(this.#buckets, this.#count)
    for (let index = 0; index < this.#count; index += 1) {
      const flag = this.#flags[index] ?? 0
      let code = codeIn(table.rollouts, this.#places[index] ?? 0, this.#buckets[index] ?? 0)
      if (code === NOTHING) {
        code = this.#firstServed(shard, flag, (this.#waiting[index] ?? 0) + 1, false)
      }
      if (code >= 0) codes[from + (positions[flag] ?? 0)] = code
    }
  }

  /** The code of the first row of the flag, not before `start`; negative: none, or it waits. */
  #firstServed(shard: Shard, flag: number, start: number, canWait: boolean): number {
    const end = shard.starts[flag + 1] ?? 0
    for (let word = start >>> 5; word << 5 < end; word += 1) {
      let bits = this.#rows[word] ?? 0
      if (word === start >>> 5) bits &= -1 << (start & 31)
      if (word === end >>> 5) bits &= ~(-1 << (end & 31))
      for (; bits !== 0; bits &= bits - 1) {
        const row = (word << 5) + lowestBit(bits)
        const entry = shard.table.rules[row] ?? NOTHING
        if (entry >= 0) return entry
        if (entry <= ROLLOUT && canWait) {
          this.#wait(shard, flag, row, ROLLOUT - entry)
          return ELSEWHERE
        }
        const code = entry === NOTHING ? NOTHING : this.#serveElsewhere(shard, row)
        if (code !== NOTHING) return code
      }
    }
    return NOTHING
  }

  #wait({ table }: Shard, flag: number, row: number, place: number): void {
    const index = this.#count
    this.#flags[index] = flag
    this.#waiting[index] = row
    this.#places[index] = place
    this.#buckets[index] = table.rollouts[place] ?? 0
    this.#count += 1
  }

  #serveElsewhere({ rules }: Shard, row: number): number {
    const rule = rules[row]
    const outcome = rule === undefined ? undefined : this.#scope.serveRule(rule)
    return outcome === undefined ? NOTHING : outcome.code
  }
}
