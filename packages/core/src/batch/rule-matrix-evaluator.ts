import type { Outcome } from '../evaluation/outcome.ts'
import type { Serve } from '../evaluation/rule.ts'
import { type Parts, toKeyText } from '../model/attribute.ts'
import { getOrMake } from '../model/get-or-make.ts'
import type { JsonValue } from '../model/json.ts'
import { type ConditionScope, holdsFor, matchesCondition } from '../operators/condition.ts'
import { endOf, has, intersects, lowestBit, subtract } from './bit-set.ts'
import { BucketingKey } from './bucketing-key.ts'
import type { ConditionIndex } from './condition-index.ts'
import { codeIn, NOTHING, PHASE } from './outcome-table.ts'
import type { IndexSlots, RuleMatrix, Shard } from './rule-matrix.ts'
import type { IndexedSegment } from './segment-index.ts'
import { keepRows } from './value-index.ts'
import { readSource } from './value-source.ts'

/** Evaluates conditions, segments and rules that a rule matrix does not contain. */
export interface RuleScope extends ConditionScope {
  readonly parts: Parts | undefined
  /** The time of the evaluation, in epoch milliseconds. */
  readonly now: number
  /**
   * Returns the outcome of a rule that matches, or `undefined` if the rule does not serve the
   * context.
   */
  follow(serve: Serve): Outcome | undefined
}

const NO_SCOPE: RuleScope = {
  context: {},
  parts: undefined,
  now: 0,
  isInSegment: () => false,
  servedVariation: () => undefined,
  follow: () => undefined,
}

const NO_CODES: Int32Array = new Int32Array(0)

/** A value that has not been read. It is not a value of JSON. */
const UNREAD = Symbol('unread')

/** Evaluates all flags of a rule matrix. Every evaluation reuses the same scratch memory. */
export class RuleMatrixEvaluator {
  readonly #matrix: RuleMatrix
  /** The scope of the current evaluation. */
  #scope = NO_SCOPE
  /** The outcome codes of the current evaluation, which start at the index `#from`. */
  #codes: Int32Array = NO_CODES
  #from = 0
  /** The values of the context, in the order of the sources of the rule matrix. */
  readonly #values: (JsonValue | undefined | typeof UNREAD)[]
  /** The result of each segment: 0 if not evaluated, 1 if it matches, -1 if not. */
  readonly #segments: Int8Array
  /** The rule rows of segments that have not been removed. */
  readonly #segmentRows: Int32Array
  /** The conditions of segments that have been evaluated separately. */
  readonly #evaluated: Uint8Array
  /** The values of segments whose tests have been evaluated. */
  readonly #tested: Uint8Array
  #areSegmentsReset = false
  /** The rule rows of the current shard. After `#evaluateRows`, only those that match. */
  readonly #rows: Int32Array
  /**
   * Two numbers for each flag that has no outcome code yet: its offset in `Shard.flags` and a rule
   * row.
   */
  readonly #waiting: Int32Array
  /** The hash states of the rollouts that the flags in `#waiting` wait for. */
  readonly #states: Int32Array
  /** The bucketing keys by the index of their source. */
  readonly #keys = new Map<number, BucketingKey>()

  constructor(matrix: RuleMatrix) {
    const { shards, segments } = matrix
    const most = (numberOf: (shard: Shard) => number) => Math.max(0, ...shards.map(numberOf))
    const flags = most((shard) => shard.flags.length / 4)
    this.#matrix = matrix
    this.#values = matrix.sources.map(() => UNREAD)
    this.#segments = new Int8Array(segments.ids.length)
    this.#segmentRows = new Int32Array(segments.index.words)
    this.#evaluated = new Uint8Array(segments.index.unindexed.length)
    this.#tested = new Uint8Array(segments.index.values.length)
    this.#rows = new Int32Array(most(({ possible }) => possible.length))
    // Has room for one more flag, because `#takeFirst` also writes flags that it does not add.
    this.#waiting = new Int32Array(2 * (flags + 1))
    this.#states = new Int32Array(flags + 4)
  }

  /** Writes the outcome codes of all flags to `codes`, starting at the index `from`. */
  evaluate(scope: RuleScope, codes: Int32Array, from: number): void {
    this.#scope = scope
    this.#codes = codes
    this.#from = from
    for (const shard of this.#matrix.shards) {
      this.#evaluateRows(shard)
      this.#serve(shard)
    }
    this.#values.fill(UNREAD)
    this.#segments.fill(0)
    this.#areSegmentsReset = false
    this.#scope = NO_SCOPE
    this.#codes = NO_CODES
  }

  /** Returns the value of a source, which is read at most once. */
  #valueAt(slot: number): JsonValue | undefined {
    const known = this.#values[slot]
    if (known !== UNREAD) return known
    const source = this.#matrix.sources[slot]
    const { context, parts } = this.#scope
    const value = source && readSource(source, context, parts)
    this.#values[slot] = value
    return value
  }

  /**
   * Removes from `rows` all rule rows with a test that a value does not pass. The value is read only
   * if a remaining rule row depends on it.
   */
  #testValue(index: ConditionIndex, slots: IndexSlots, number: number, rows: Int32Array): void {
    const each = index.values[number]
    if (each === undefined || !intersects(rows, each.tested, 0)) return
    keepRows(each, this.#valueAt(slots.values[number] ?? 0), rows, index)
  }

  /** Sets `#rows` to the rule rows of the shard that match. */
  #evaluateRows({ group, possible, slots, segmentSlots }: Shard): void {
    const { index } = group
    const { segmentIds, rowsBySegment, unindexed } = index
    const rows = this.#rows
    rows.set(possible)
    for (let number = 0; number < index.values.length; number += 1) {
      this.#testValue(index, slots, number, rows)
    }
    let at = 0
    for (let number = 0; number < segmentIds.length; number += 1) {
      const slot = segmentSlots[number] ?? 0
      if (intersects(rows, rowsBySegment, at) && !this.#isIn(slot))
        subtract(rows, rowsBySegment, at)
      at = endOf(rowsBySegment, at)
    }
    for (let number = 0; number < unindexed.length; number += 1) {
      this.#evaluateCondition(index, slots, number, rows)
    }
  }

  /** Evaluates a condition separately if a remaining rule row has it. */
  #evaluateCondition(
    { unindexed }: ConditionIndex,
    slots: IndexSlots,
    number: number,
    rows: Int32Array,
  ): void {
    const each = unindexed[number]
    const slot = slots.unindexed[number] ?? -1
    if (each === undefined || !intersects(rows, each.ruleRows, 0)) return
    const { condition, ruleRows } = each
    const holds =
      slot === -1
        ? matchesCondition(condition, this.#scope)
        : holdsFor(condition, this.#valueAt(slot))
    if (!holds) subtract(rows, ruleRows, 0)
  }

  /** Returns `true` if a segment matches. Evaluates each segment at most once. */
  #isIn(slot: number): boolean {
    const known = this.#segments[slot]
    if (known !== 0) return known === 1
    const segment = this.#matrix.segments.segments[slot]
    const isIn = segment !== undefined && this.#decide(segment, slot)
    this.#segments[slot] = isIn ? 1 : -1
    return isIn
  }

  #decide(indexed: IndexedSegment, slot: number): boolean {
    const { segments: all, segmentSlots, keySlots } = this.#matrix
    const { segment, keys, isSeparate, values, conditions, required } = indexed
    if (segment === undefined) return false
    if (isSeparate) return this.#scope.isInSegment(all.ids[slot] ?? '')
    const key = keys && toKeyText(this.#valueAt(keySlots[slot] ?? 0))
    if (key !== undefined && segment.excluded.has(key)) return false
    if (key !== undefined && segment.included.has(key)) return true
    if (!this.#areSegmentsReset) this.#resetSegments()
    const rows = this.#segmentRows
    for (const number of values) {
      if (this.#tested[number] === 1) continue
      this.#tested[number] = 1
      this.#testValue(all.index, segmentSlots, number, rows)
    }
    for (const number of conditions) {
      if (this.#evaluated[number] === 1) continue
      this.#evaluated[number] = 1
      this.#evaluateCondition(all.index, segmentSlots, number, rows)
    }
    for (const { slot: other, place } of required) {
      const { rowsBySegment } = all.index
      if (intersects(rows, rowsBySegment, place) && !this.#isIn(other))
        subtract(rows, rowsBySegment, place)
    }
    return intersects(rows, indexed.rows, 0)
  }

  #resetSegments(): void {
    this.#areSegmentsReset = true
    this.#evaluated.fill(0)
    this.#tested.fill(0)
    this.#segmentRows.set(this.#matrix.segments.index.possible)
  }

  /** Writes the code of the first target or rule of each flag that serves a variation. */
  #serve(shard: Shard): void {
    const { flags, group, oneWord } = shard
    const { entries, schedule } = group.table
    const count = this.#takeFirst(shard)
    for (const slot of shard.bucketingSlots) this.#valueAt(slot)
    // From here on, no getter in the context is called before all buckets have been used.
    schedule.resolve(entries, this.#scope.now)
    let left = 0
    for (let start = 0; start < count; ) {
      const phase = this.#phaseAt(start, entries)
      let end = start + 1
      while (end < count && this.#phaseAt(end, entries) === phase) end += 1
      left = this.#takePhase(shard, start, end, left)
      start = end
    }
    for (let index = 0; index < left; index += 1) {
      const flag = this.#waiting[2 * index] ?? 0
      this.#takeRest(shard, flag, this.#waiting[2 * index + 1] ?? 0)
    }
    for (let flag = oneWord; flag < flags.length; flag += 4) {
      this.#takeRest(shard, flag, flags[flag] ?? 0)
    }
  }

  /**
   * Writes the entry of each flag's first rule row that matches, for flags with all rows in one
   * word. If the entry is not a code, the flag is added to `#waiting`, without a branch that the
   * CPU could not predict. Returns the number of flags in `#waiting`.
   */
  #takeFirst({ group, flags, oneWord }: Shard): number {
    const { entries } = group.table
    const codes = this.#codes
    const from = this.#from
    const rows = this.#rows
    const waiting = this.#waiting
    let count = 0
    for (let flag = 0; flag < oneWord; flag += 4) {
      const word = (flags[flag] ?? 0) >>> 5
      const bits = (rows[word] ?? 0) & (flags[flag + 2] ?? 0)
      if (bits === 0) continue
      const row = 32 * word + lowestBit(bits)
      const entry = entries[row] ?? 0
      codes[from + (flags[flag + 3] ?? 0)] = entry
      waiting[2 * count] = flag
      waiting[2 * count + 1] = row
      count += entry >>> 31
    }
    return count
  }

  /** Returns the phase of the rollout that the flag with this index in `#waiting` waits for. */
  #phaseAt(index: number, entries: Int32Array): number {
    return entries[~(entries[this.#waiting[2 * index + 1] ?? 0] ?? 0) + PHASE] ?? 0
  }

  /**
   * Writes the codes of the flags in `#waiting` from `start` to `end`, whose rollouts have the same
   * phase. A flag that has no code yet is moved to the beginning of `#waiting`, with the rule row
   * to continue with. `before` flags have been moved. Returns the number of the moved flags.
   */
  #takePhase(
    { group, flags, bucketingSlots }: Shard,
    start: number,
    end: number,
    before: number,
  ): number {
    const { entries } = group.table
    const codes = this.#codes
    const from = this.#from
    const phase = this.#phaseAt(start, entries)
    const waiting = this.#waiting
    const states = this.#states
    const slot = bucketingSlots[phase >> 2]
    const key = phase < 0 || slot === undefined ? undefined : this.#keyAt(slot)
    const isHashed = key?.isMixed === true
    if (isHashed) {
      key.align(phase & 3)
      for (let index = start; index < end; index += 1) {
        const place = ~(entries[waiting[2 * index + 1] ?? 0] ?? 0)
        states[index] = key.mixRest(entries[place] ?? 0, entries[place + 2] ?? 0)
      }
      key.mixBlocks(states, start, end)
    }
    // A flag whose rollout serves nothing continues with its next row.
    const step = isHashed || (phase >= 0 && key === undefined) ? 1 : 0
    let left = before
    // V8 inlines the calls in this loop. The literal -1 means `NOTHING`, because V8 does not inline
    // constants of modules.
    for (let index = start; index < end; index += 1) {
      const flag = waiting[2 * index] ?? 0
      const row = waiting[2 * index + 1] ?? 0
      let code = -1
      if (isHashed) {
        const place = ~(entries[row] ?? 0)
        const bucket = key.bucketFor(states[index] ?? 0, entries[place + 3] ?? 0)
        code = codeIn(entries, place, bucket)
      }
      codes[from + (flags[flag + 3] ?? 0)] = code
      waiting[2 * left] = flag
      waiting[2 * left + 1] = row + step
      left += code >>> 31
    }
    return left
  }

  /** Writes the code of a flag, beginning with the rule row `start`. */
  #takeRest(shard: Shard, flag: number, start: number): void {
    const position = shard.flags[flag + 3] ?? 0
    const served = this.#firstServed(shard, start, shard.flags[flag + 1] ?? 0)
    const code = served === NOTHING ? this.#matrix.initial[position] : served
    this.#codes[this.#from + position] = code ?? 0
  }

  /** Returns the bucketing key of a source, or `undefined` if it is missing. */
  #keyAt(slot: number): BucketingKey | undefined {
    const text = this.#valueAt(slot)
    if (typeof text !== 'string') return undefined
    const key = getOrMake(this.#keys, slot, newKey)
    key.read(text)
    return key
  }

  /**
   * Returns the code of the first rule row that matches and serves a variation, or `NOTHING`. The
   * rule rows start at `start` and end before `end`.
   */
  #firstServed({ group, bucketingSlots }: Shard, start: number, end: number): number {
    const { entries } = group.table
    for (let row = start; row < end; row += 1) {
      if (!has(this.#rows, row)) continue
      const entry = entries[row] ?? 0
      if (entry >= 0) return entry
      const slot = bucketingSlots[(entries[~entry + PHASE] ?? 0) >> 2]
      if (slot !== undefined && this.#valueAt(slot) === undefined) continue
      const serve = group.serves[row]
      const outcome = serve && this.#scope.follow(serve)
      if (outcome !== undefined) return outcome.code
    }
    return NOTHING
  }
}

function newKey(): BucketingKey {
  return new BucketingKey()
}
