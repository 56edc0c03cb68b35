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

/** Evaluates conditions, segments and rules that a rule matrix does not contain. */
export interface RuleScope extends ConditionScope {
  /**
   * Returns the outcome of a rule that matches, or `undefined` if the rule does not serve the
   * context.
   */
  serveRule(rule: CompiledRule): Outcome | undefined
}

const NO_SCOPE: RuleScope = {
  context: {},
  isInSegment: () => false,
  servedVariation: () => undefined,
  serveRule: () => undefined,
}

/** Evaluates all flags of a rule matrix. Every evaluation reuses the same scratch memory. */
export class RuleMatrixEvaluator {
  readonly #matrix: RuleMatrix
  /** The scope of the current evaluation. */
  #scope = NO_SCOPE
  /** The attribute values of the context, in the order of the references of the rule matrix. */
  readonly #values: (JsonValue | undefined)[]
  /** The offsets of the sets for the attribute values, in the current condition index. */
  readonly #places: Int32Array
  /** The result of each segment: 0 if not evaluated, 1 if it matches, -1 if not. */
  readonly #segments: Int8Array
  /** The rule rows of the current shard. After `#evaluateRows`, only those that match. */
  readonly #rows: Int32Array
  /** The offset in `Shard.flags` and the entry of each flag that has no outcome code yet. */
  readonly #waiting: Int32Array
  /**
   * The hash state of the salt of each rollout in `#waiting`. `bucketAll` replaces it by the
   * bucket.
   */
  readonly #buckets: Int32Array
  /** The number of flags in `#waiting`. */
  #count = 0
  /** The bucketing keys of rollouts. Each is read only once for a context. */
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
    // Has room for one more flag, because `#takeFirst` also writes flags that it does not add.
    this.#waiting = new Int32Array(2 * (flags + 1))
    this.#buckets = new Int32Array(flags + 4)
  }

  /** Writes the outcome codes of all flags to `codes`, starting at the index `from`. */
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
      // A segment with the operator NOT matches if none of its conditions matches.
      const isForNone = segments[slot]?.definition.logicalOp === 'NOT'
      const isIn = intersects(this.#rows, rows, at) !== isForNone
      this.#segments[slot] = rows[at] === 0 ? 0 : isIn ? 1 : -1
      at = endOf(rows, at)
    }
  }

  /** Sets `#rows` to the possible rule rows that satisfy all indexed conditions. */
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
    // The set at offset 0 contains all rows. It completes a group of fewer than three sets.
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

  /** Sets `#rows` to the rule rows of the shard that match. */
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
      const isNeeded = intersects(rows, ruleRows, 0)
      if (isNeeded && !matchesCondition(condition, this.#scope)) subtract(rows, ruleRows, 0)
    }
  }

  /** Evaluates a segment separately. */
  #isIn(slot: number): boolean {
    const isIn = this.#scope.isInSegment(this.#matrix.segmentIds[slot] ?? '')
    this.#segments[slot] = isIn ? 1 : -1
    return isIn
  }

  /** Writes the code of the first rule of each flag that matches and serves a variation. */
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
   * Writes the entry of each flag's first rule row that matches. If the entry is not a code, the
   * flag is added to `#waiting`, without a branch that the CPU could not predict.
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
      // A flag with more rule rows after this word is added to `#waiting`.
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

  /** Returns the bucketing key of the context, or `undefined` if it is missing. */
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
    // V8 inlines the calls in this loop. The literal -1 means `NOTHING`, because V8 does not inline
    // constants of modules.
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

  /**
   * Returns the code of the first rule row that matches and serves a variation, or `NOTHING`. The
   * rule rows start at `start` and end before `end`.
   */
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

/** The bucketing key that an attribute reference names in a context. */
interface KeyReading {
  readonly name: string
  readonly key: BucketingKey
  isMissing: boolean
  isRead: boolean
}
