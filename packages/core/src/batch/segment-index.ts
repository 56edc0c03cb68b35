import type { CompiledSegment } from '../evaluation/segment.ts'
import { finish } from '../model/parts.ts'
import { addTo, packed, type SparseBits } from './bit-set.ts'
import { type ConditionIndex, type IndexRow, indexRows } from './condition-index.ts'

/**
 * Segments, of which those that are nothing but questions about texts are made ready to be judged
 * together. All others are asked one by one. Made by `indexSegments`.
 */
export interface SegmentIndex {
  /** undefined: there is no such segment. */
  readonly segments: readonly (CompiledSegment | undefined)[]
  readonly index: ConditionIndex
  /** For each segment its rows, one set behind the other; none if it is asked alone. */
  readonly rows: SparseBits
}

/** Prepares segments, or takes them as they were. */
export function indexSegments(
  segments: SegmentIndex['segments'],
  previous: SegmentIndex | undefined,
): SegmentIndex {
  const known = previous?.segments ?? []
  const isSame =
    segments.length === known.length && segments.every((each, at) => each === known[at])
  if (previous !== undefined && isSame) return previous
  const all: IndexRow[] = []
  const rows = segments.map((segment) => {
    const own = segment === undefined ? [] : rowsOf(segment)
    const numbers: number[] = []
    if (finish(indexRows(own)).judged.length > 0) return numbers
    for (const row of own) addTo(numbers, all.push(row) - 1)
    return numbers
  })
  return { segments, index: finish(indexRows(all)), rows: packed(rows) }
}

/** None for a segment that its conditions do not decide alone. */
function rowsOf(segment: CompiledSegment): readonly IndexRow[] {
  const { definition, conditions, included, excluded } = segment
  const { rules: definitions, logicalOp, force } = definition
  if (force || included.size + excluded.size > 0 || conditions.length === 0) return []
  const row = { conditions, definitions, segmentId: null }
  if (logicalOp === 'AND') return [row]
  if (logicalOp !== 'OR' && logicalOp !== 'NOT') return []
  return conditions.map((condition, at) => {
    return { ...row, conditions: [condition], definitions: definitions.slice(at) }
  })
}
