import type { CompiledSegment } from '../evaluation/segment.ts'
import { runToEnd } from '../model/incremental.ts'
import { addTo, packed, type SparseBits } from './bit-set.ts'
import { type ConditionIndex, indexRuleRows, type RuleRow } from './condition-index.ts'

/**
 * An index of the segments whose conditions depend only on the texts of attributes; these are
 * evaluated together, all other segments one by one. Made by `indexSegments`.
 */
export interface SegmentIndex {
  /** undefined: there is no such segment. */
  readonly segments: readonly (CompiledSegment | undefined)[]
  readonly index: ConditionIndex
  /** For each segment its rule rows, one set behind the other; empty if it is evaluated alone. */
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
  const all: RuleRow[] = []
  const rows = segments.map((segment) => {
    const own = segment === undefined ? [] : rowsOf(segment)
    const numbers: number[] = []
    if (runToEnd(indexRuleRows(own)).unindexed.length > 0) return numbers
    for (const row of own) addTo(numbers, all.push(row) - 1)
    return numbers
  })
  return { segments, index: runToEnd(indexRuleRows(all)), rows: packed(rows) }
}

/** None for a segment that its conditions do not decide alone. */
function rowsOf(segment: CompiledSegment): readonly RuleRow[] {
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
