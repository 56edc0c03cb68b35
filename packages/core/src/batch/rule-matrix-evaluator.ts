import type { Outcome } from '../evaluation/outcome.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import { type AttributeReference, readAttribute, readBucketingKey } from '../model/attribute.ts'
import type { JsonValue } from '../model/json.ts'
import { type ConditionScope, matchesCondition } from '../operators/condition.ts'
import { keepRows, NOWHERE, placeOf } from './attribute-index.ts'
import { endOf, has, intersects, lowestBit, subtract } from './bit-set.ts'
import { BucketingKey } from './bucketing-key.ts'
import type { ConditionIndex } from './condition-index.ts'
import { codeIn, ELSEWHERE, NOTHING } from './outcome-table.ts'
import type { FlagGroup, RuleMatrix, Shard } from './rule-matrix.ts'

/** Evaluates what a rule matrix does not contain. */
export interface RuleScope extends ConditionScope {
  /** The outcome of a rule that matches; `undefined` if it serves nothing to this context. */
  serveRule(rule: CompiledRule): Outcome | undefined
}

const NO_SCOPE: RuleScope = {
  context: {},
  isInSegment: () => false,
  servedVariation: () => undefined,
  serveRule: () => undefined,
}

/** Evaluates all flags of a rule matrix, each time in the same scratch memory. */
export class RuleMatrixEvaluator {
  readonly #matrix: RuleMatrix
  /** That of the current evaluation. */
  #scope = NO_SCOPE
  readonly #values: (JsonValue | undefined)[]
  /** The places of the words for the attribute values, in the current condition index. */
  readonly #places: Int32Array
  /** By segment: 0 if not evaluated yet, 1 if the context is in it, -1 if not. */
  readonly #segments: Int8Array
  /** The rule rows of the current shard; after `#evaluateRows` only those that hold. */
  readonly #rows: Int32Array
  /** For each flag whose outcome is not in the outcome table: its place and its entry. */
  readonly #waiting: Int32Array
  /** The states of the salts of their rollouts, and then their buckets. */
  readonly #buckets: Int32Array
  #count = 0
  /** The bucketing keys of rollouts, mostly one; each is read once for a context. */
  readonly #keys: KeyReading[] = []

  constructor(matrix: RuleMatrix) {
    const { shards, references, segmentIds } = matrix
    const flags = shards.reduce((most, shard) => Math.max(most, shard.flags.length / 4), 0)
    this.#matrix = matrix
    this.#values = references.map(() => undefined)
    this.#places = new Int32Array(references.length + 2)
    this.#segments = new Int8Array(segmentIds.length)
    const words = shards.reduce(
      (most, { possible }) => Math.max(most, possible.length),
      matrix.segments.index.words,
    )
    this.#rows = new Int32Array(words)
    // Each flag is entered before it is known whether it has to wait; buckets are computed in fours.
    this.#waiting = new Int32Array(2 * (flags + 1))
    this.#buckets = new Int32Array(flags + 4)
  }

  /** Writes the outcome codes of all flags into `codes`; the first flag's place is `from`. */
  evaluate(scope: RuleScope, codes: Int32Array, from: number): void {
    this.#scope = scope
    this.#read()
    this.#evaluateSegments()
    for (const shard of this.#matrix.shards) {
      this.#evaluateRows(shard)
      this.#serve(shard, codes, from)
    }
    for (let slot = 0; slot < this.#values.length; slot += 1) this.#values[slot] = undefined
    for (const reading of this.#keys) reading.isRead = false
    this.#scope = NO_SCOPE
  }

  #read(): void {
    const { references } = this.#matrix
    for (let slot = 0; slot < references.length; slot += 1) {
      const reference = references[slot]
      if (reference === undefined) continue
      this.#values[slot] = readAttribute(this.#scope.context, reference)
    }
  }

  #evaluateSegments(): void {
    const { segments, index, rows, attributeSlots } = this.#matrix.segments
    this.#keepRows(index, index.possible, attributeSlots)
    let at = 0
    for (let slot = 0; slot < segments.length; slot += 1) {
      // A context for which no condition holds is in a segment with the operator NOT.
      const isForNone = segments[slot]?.definition.logicalOp === 'NOT'
      const isIn = intersects(this.#rows, rows, at) !== isForNone
      this.#segments[slot] = rows[at] === 0 ? 0 : isIn ? 1 : -1
      at = endOf(rows, at)
    }
  }

  /** Keeps in `#rows` those possible rule rows whose conditions on texts hold. */
  #keepRows(index: ConditionIndex, possible: Int32Array, attributeSlots: readonly number[]): void {
    const { attributes, words, bits } = index
    const rows = this.#rows
    const places = this.#places
    rows.set(possible)
    let count = 0
    for (let number = 0; number < attributes.length; number += 1) {
      const attribute = attributes[number]
      const value = this.#values[attributeSlots[number] ?? 0]
      if (attribute === undefined) continue
      const place = placeOf(attribute, value)
      places[count] = place
      if (place !== NOWHERE) count += 1
      else if (value !== undefined) keepRows(attribute, value, rows, index)
    }
    // Place 0 holds the words of all rule rows; it fills up a group of fewer than three.
    places[count] = 0
    places[count + 1] = 0
    for (let at = 0; at < count; at += 3) {
      const first = places[at] ?? 0
      const second = places[at + 1] ?? 0
      const third = places[at + 2] ?? 0
      for (let word = 0; word < words; word += 1) {
        const kept = (bits[first + word] ?? 0) & (bits[second + word] ?? 0)
        rows[word] = (rows[word] ?? 0) & kept & (bits[third + word] ?? 0)
      }
    }
  }

  /** Keeps in `#rows` the rule rows of the shard that hold. */
  #evaluateRows({ group, possible, attributeSlots, segmentSlots }: Shard): void {
    const { segmentIds, rowsBySegment, unindexed } = group.index
    const rows = this.#rows
    this.#keepRows(group.index, possible, attributeSlots)
    let at = 0
    for (let number = 0; number < segmentIds.length; number += 1) {
      const slot = segmentSlots[number] ?? 0
      const state = this.#segments[slot]
      const isOut =
        state === 0 ? intersects(rows, rowsBySegment, at) && !this.#isIn(slot) : state === -1
      if (isOut) subtract(rows, rowsBySegment, at)
      at = endOf(rowsBySegment, at)
    }
    for (const { condition, ruleRows } of unindexed) {
      const isAsked = intersects(rows, ruleRows, 0)
      if (isAsked && !matchesCondition(condition, this.#scope)) subtract(rows, ruleRows, 0)
    }
  }

  #isIn(slot: number): boolean {
    if (this.#segments[slot] === 0) {
      const isIn = this.#scope.isInSegment(this.#matrix.segmentIds[slot] ?? '')
      this.#segments[slot] = isIn ? 1 : -1
    }
    return this.#segments[slot] === 1
  }

  /** Writes for each flag the code of its first rule that holds and serves. */
  #serve(shard: Shard, codes: Int32Array, from: number): void {
    this.#takeFirst(shard, codes, from)
    if (this.#count === 0) return
    const { bucketBy } = shard.group.table
    const key = bucketBy === undefined ? undefined : this.#readKey(bucketBy)
    const isHashed = key?.isMixed === true
    // The buckets of all rollouts are computed together.
    if (isHashed) key.bucketAll(this.#buckets, this.#count)
    this.#takeOthers(shard, codes, from, isHashed)
  }

  /**
   * Writes the entry of the first rule row that holds, if it is a code; the other flags have to wait.
   * Which flags these are is unpredictable, so nothing here branches on it.
   */
  #takeFirst({ group, flags }: Shard, codes: Int32Array, from: number): void {
    const { entries } = group.table
    const rows = this.#rows
    const waiting = this.#waiting
    const buckets = this.#buckets
    let count = 0
    for (let flag = 0; flag < flags.length; flag += 4) {
      const word = (flags[flag] ?? 0) >>> 5
      const bits = (rows[word] ?? 0) & (flags[flag + 2] ?? 0)
      // Rule rows beyond this word are evaluated with the waiting flags.
      if (bits === 0 && 32 * (word + 1) >= (flags[flag + 1] ?? 0)) continue
      const entry = bits === 0 ? -1 : (entries[32 * word + lowestBit(bits)] ?? 0)
      codes[from + (flags[flag + 3] ?? 0)] = entry
      waiting[2 * count] = flag
      waiting[2 * count + 1] = entry
      buckets[count] = entries[~entry & (entry >> 31)] ?? 0
      count += entry >>> 31
    }
    this.#count = count
  }

  /** `undefined` if the context has no such key. */
  #readKey(bucketBy: AttributeReference): BucketingKey | undefined {
    const reading = this.#readingOf(bucketBy.name)
    if (!reading.isRead) {
      const text = readBucketingKey(this.#scope.context, bucketBy)
      if (text !== undefined) reading.key.read(text)
      reading.isMissing = text === undefined
      reading.isRead = true
    }
    return reading.isMissing ? undefined : reading.key
  }

  #readingOf(name: string): KeyReading {
    for (const reading of this.#keys) if (reading.name === name) return reading
    const reading = { name, key: new BucketingKey(), isMissing: true, isRead: false }
    this.#keys.push(reading)
    return reading
  }

  #takeOthers(shard: Shard, codes: Int32Array, from: number, isHashed: boolean): void {
    const { group, flags } = shard
    const { entries } = group.table
    const waiting = this.#waiting
    const buckets = this.#buckets
    const count = this.#count
    let left = 0
    // What this loop calls is small enough to be inlined. `NOTHING` is written out, because engines do
    // not treat a constant of a module as a constant.
    for (let index = 0; index < count; index += 1) {
      const flag = waiting[2 * index] ?? 0
      const entry = waiting[2 * index + 1] ?? 0
      let code = -1
      if (isHashed && entry !== -1) code = codeIn(entries, ~entry, buckets[index] ?? 0)
      codes[from + (flags[flag + 3] ?? 0)] = code
      waiting[left] = flag
      left += code >>> 31
    }
    for (let index = 0; index < left; index += 1) {
      const flag = waiting[index] ?? 0
      const position = flags[flag + 3] ?? 0
      const served = this.#firstServed(group, flags[flag] ?? 0, flags[flag + 1] ?? 0)
      codes[from + position] = served === NOTHING ? (this.#matrix.initial[position] ?? 0) : served
    }
  }

  /** The code of the first rule row from `start` to before `end` that holds and serves. */
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

/** The bucketing key of a context under one attribute reference. */
interface KeyReading {
  readonly name: string
  readonly key: BucketingKey
  isMissing: boolean
  isRead: boolean
}
