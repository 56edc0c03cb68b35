import { addTo, packed, type SparseBits } from './bit-set.ts'
import { asksAboutText, type ConditionIndex, type IndexRow, indexRows } from './condition-index.ts'
import type { CompiledSegment } from './segment.ts'

/**
 * The segments that are nothing but questions about texts, made ready to be judged together. All
 * others are asked one by one. Made by `indexSegments`.
 */
export interface SegmentIndex {
  readonly segments: readonly CompiledSegment[]
  readonly index: ConditionIndex
  /** For each segment its rows, one set behind the other. */
  readonly rows: SparseBits
  /** For each segment whether it is for whom none of its rows is, and not for whom some row is. */
  readonly isForNone: readonly boolean[]
}

/** Prepares those of the segments that can be judged together, or takes them as they were. */
export function indexSegments(
  segments: readonly CompiledSegment[],
  previous: SegmentIndex | undefined,
): SegmentIndex {
  const fit = segments.filter(isIndexable)
  const known = previous?.segments ?? []
  const isSame = fit.length === known.length && fit.every((each, at) => each === known[at])
  if (previous !== undefined && isSame) return previous
  const all: IndexRow[] = []
  const rows = fit.map((segment) => {
    const numbers: number[] = []
    for (const row of rowsOf(segment)) addTo(numbers, all.push(row) - 1)
    return numbers
  })
  return {
    segments: fit,
    index: indexRows(all),
    rows: packed(rows),
    isForNone: fit.map(({ definition }) => definition.logicalOp === 'NOT'),
  }
}

function isIndexable({ definition, conditions, included, excluded }: CompiledSegment): boolean {
  const { rules, logicalOp, force } = definition
  if (force || included.size + excluded.size > 0 || conditions.length === 0) return false
  return JOINTS.has(logicalOp) && asksAboutText(conditions, rules)
}

const JOINTS: ReadonlySet<unknown> = new Set(['AND', 'OR', 'NOT'])

/** Whoever needs all conditions has one row, and others a row for each. */
function rowsOf({ definition, conditions }: CompiledSegment): readonly IndexRow[] {
  const { rules, logicalOp } = definition
  if (logicalOp === 'AND') return [{ conditions, definitions: rules, segmentId: null }]
  return conditions.map((condition, at) => {
    return { conditions: [condition], definitions: rules.slice(at, at + 1), segmentId: null }
  })
}
