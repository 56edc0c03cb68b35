import type { Outcome } from '../evaluation/outcome.ts'
import type { Serve } from '../evaluation/rule.ts'
import { type Parts, toKeyText } from '../model/attribute.ts'
import type { JsonValue } from '../model/json.ts'
import { type ConditionScope, holdsFor, matchesCondition } from '../operators/condition.ts'
import { endOf, intersects, subtract } from './bit-set.ts'
import type { ConditionIndex } from './condition-index.ts'
import { keepRows } from './keep-rows.ts'
import type { IndexSlots, RuleMatrix, Shard } from './rule-matrix.ts'
import type { IndexedSegment } from './segment-index.ts'
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

/** A value that has not been read. It is not a value of JSON. */
const UNREAD = Symbol('unread')

/**
 * Finds the rule rows of a rule matrix that match a context. Every evaluation reuses the same
 * scratch memory.
 */
export class RowMatcher {
  /** The scope of the current evaluation. */
  scope = NO_SCOPE
  /** The rule rows of the current shard. After `match`, only those that match. */
  readonly rows: Int32Array
  readonly #matrix: RuleMatrix
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

  constructor(matrix: RuleMatrix) {
    const { shards, segments, sources } = matrix
    this.rows = new Int32Array(Math.max(0, ...shards.map(({ possible }) => possible.length)))
    this.#matrix = matrix
    this.#values = sources.map(() => UNREAD)
    this.#segments = new Int8Array(segments.ids.length)
    this.#segmentRows = new Int32Array(segments.index.words)
    this.#evaluated = new Uint8Array(segments.index.unindexed.length)
    this.#tested = new Uint8Array(segments.index.values.length)
  }

  /** Forgets the context and its values. */
  reset(): void {
    this.#values.fill(UNREAD)
    this.#segments.fill(0)
    this.#areSegmentsReset = false
    this.scope = NO_SCOPE
  }

  /** Returns the value of a source, which is read at most once. */
  valueAt(slot: number): JsonValue | undefined {
    const known = this.#values[slot]
    if (known !== UNREAD) return known
    const source = this.#matrix.sources[slot]
    const { context, parts } = this.scope
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
    keepRows(each, this.valueAt(slots.values[number] ?? 0), rows, index)
  }

  /** Sets `rows` to the rule rows of the shard that match. */
  match({ group, possible, slots, segmentSlots }: Shard): void {
    const { index } = group
    const { segmentIds, rowsBySegment, unindexed } = index
    const rows = this.rows
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
        ? matchesCondition(condition, this.scope)
        : holdsFor(condition, this.valueAt(slot))
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
    if (isSeparate) return this.scope.isInSegment(all.ids[slot] ?? '')
    const key = keys && toKeyText(this.valueAt(keySlots[slot] ?? 0))
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
}
