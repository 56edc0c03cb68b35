import type { CompiledSegment } from '../evaluation/segment.ts'
import { runToEnd } from '../model/incremental.ts'
import { addTo, packed, type SparseBits } from './bit-set.ts'
import { type ConditionIndex, indexRuleRows, type RuleRow } from './condition-index.ts'

/**
 * The index of the segments that rules refer to. A segment is evaluated together with others if its
 * result depends only on conditions that read the text of an attribute. Every other segment has no
 * rule rows and is evaluated separately. Created by `indexSegments`.
 */
export interface SegmentIndex {
  /** All segments, including those without rule rows. `undefined` if a segment does not exist. */
  readonly segments: readonly (CompiledSegment | undefined)[]
  readonly index: ConditionIndex
  /**
   * The sparse set of the rule rows of each segment. Empty if the segment is evaluated separately.
   */
  readonly rows: SparseBits
}

/**
 * Creates the index of a list of segments. Returns `previous` if its segments are the same objects
 * in the same order.
 */
export function indexSegments(
  segments: SegmentIndex['segments'],
  previous: SegmentIndex | undefined,
): SegmentIndex {
  if (
    previous?.segments.length === segments.length &&
    segments.every((each, at) => each === previous.segments[at])
  ) {
    return previous
  }
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

/**
 * Returns the rule rows of a segment. Empty if the segment has no conditions, or if its result
 * depends on more than its conditions.
 */
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
