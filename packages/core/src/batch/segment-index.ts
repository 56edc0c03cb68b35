import type { CompiledSegment } from '../evaluation/segment.ts'
import { getOrMake } from '../model/get-or-make.ts'
import { runToEnd } from '../model/incremental.ts'
import { addTo, endOf, packed, type SparseBits } from './bit-set.ts'
import { type ConditionIndex, indexRuleRows } from './condition-index.ts'
import { conditionsRow, type RuleRow } from './rule-row.ts'
import { attributeSource, type ValueSource } from './value-source.ts'

/**
 * The index of the segments that rule rows require, directly or by other segments. Created by
 * `indexSegments`.
 */
export interface SegmentIndex {
  readonly ids: readonly string[]
  readonly segments: readonly IndexedSegment[]
  readonly index: ConditionIndex
}

/** A segment, and the parts of the index that decide it. */
export interface IndexedSegment {
  /** `undefined` if the segment does not exist. */
  readonly segment: CompiledSegment | undefined
  /** The source of the listed keys. `undefined` if the segment lists no keys. */
  readonly keys: ValueSource | undefined
  /** The rule rows. The segment matches if one of them matches. */
  readonly rows: SparseBits
  /** The indexes in `index.values` of the values that the rule rows depend on. */
  readonly values: readonly number[]
  /** The indexes in `index.unindexed` of the conditions that the rule rows have. */
  readonly conditions: readonly number[]
  /** The segments that the rule rows require. */
  readonly required: readonly RequiredSegment[]
  /** `true` if rule rows cannot represent the segment. */
  readonly isSeparate: boolean
}

interface RequiredSegment {
  /** The index in `SegmentIndex.ids`. */
  readonly slot: number
  /** The offset in `index.rowsBySegment`. */
  readonly place: number
}

/**
 * Creates the index of segments. `find` returns a segment, or `undefined` if it cannot be
 * evaluated. Returns `previous` if its segments are the same.
 */
export function indexSegments(
  ids: readonly string[],
  find: (id: string) => CompiledSegment | undefined,
  previous: SegmentIndex | undefined,
): SegmentIndex {
  const slots = new Map(ids.map((id, slot) => [id, slot]))
  const rows: RuleRow[] = []
  const found: {
    readonly segment: CompiledSegment | undefined
    rows: readonly RuleRow[] | undefined
  }[] = []
  // The iteration of a map includes elements that are added meanwhile.
  for (const id of slots.keys()) {
    const segment = find(id)
    const rowsOfSegment = segment === undefined ? [] : rowsOf(segment)
    found.push({ segment, rows: rowsOfSegment })
    for (const { segmentIds } of rowsOfSegment ?? []) {
      for (const each of segmentIds) if (!slots.has(each)) slots.set(each, slots.size)
    }
  }
  const isSame = (id: string, slot: number) => {
    return previous?.ids[slot] === id && previous.segments[slot]?.segment === found[slot]?.segment
  }
  const all = [...slots.keys()]
  if (previous?.ids.length === all.length && all.every(isSame)) return previous
  const numbers = found.map((each) => (each.rows ?? []).map((row) => rows.push(row) - 1))
  const index = runToEnd(indexRuleRows(rows, (row) => row))
  const conditionNumbers = new Map(index.unindexed.map((each, at) => [each.condition, at]))
  const places = placesBySegment(index)
  const valuesByRow = new Map<number, number[]>()
  for (const [at, value] of index.values.entries()) {
    for (const row of value.rows) getOrMake(valuesByRow, row, () => []).push(at)
  }
  const segments = found.map(({ segment, rows: rowsOfSegment }, slot): IndexedSegment => {
    const own = numbers[slot] ?? []
    const conditions = (rowsOfSegment ?? []).flatMap((row) => row.conditions)
    const required = (rowsOfSegment ?? []).flatMap((row) => row.segmentIds)
    return {
      segment,
      keys: keysOf(segment),
      rows: setOf(own),
      values: Array.from(new Set(own.flatMap((row) => valuesByRow.get(row) ?? []))),
      conditions: Array.from(new Set(conditions), (each) => conditionNumbers.get(each) ?? 0),
      required: Array.from(new Set(required), (id) => {
        return { slot: slots.get(id) ?? 0, place: places.get(id) ?? 0 }
      }),
      isSeparate: rowsOfSegment === undefined,
    }
  })
  return { ids: all, segments, index }
}

function keysOf(segment: CompiledSegment | undefined): ValueSource | undefined {
  if (segment === undefined || segment.included.size + segment.excluded.size === 0) return undefined
  return attributeSource(segment.keyAttribute)
}

function setOf(numbers: readonly number[]): SparseBits {
  const pairs: number[] = []
  for (const number of numbers) addTo(pairs, number)
  return packed([pairs])
}

function placesBySegment({ segmentIds, rowsBySegment }: ConditionIndex): Map<string, number> {
  let place = 0
  return new Map(
    segmentIds.map((id) => {
      const own = place
      place = endOf(rowsBySegment, place)
      return [id, own]
    }),
  )
}

/**
 * Returns the rule rows of a segment. `undefined` if the segment matches when none of its
 * conditions matches, which rule rows cannot represent.
 */
function rowsOf({ definition, conditions }: CompiledSegment): readonly RuleRow[] | undefined {
  const { rules: definitions, logicalOp, force } = definition
  if (force) return [{ tests: [], conditions: [], segmentIds: [] }]
  if (conditions.length === 0) return []
  if (logicalOp === 'NOT') return undefined
  if (logicalOp === 'AND') return [conditionsRow(conditions, definitions, null) ?? []].flat()
  if (logicalOp !== 'OR') return []
  return conditions.flatMap((condition, at) => {
    return conditionsRow([condition], definitions.slice(at, at + 1), null) ?? []
  })
}
