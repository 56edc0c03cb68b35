import { assertFinite } from '../ports/storable.ts'
import type { EvaluationCount, EvaluationOutcome, EvaluationTotal } from '../ports/usage.ts'

type Tally = Pick<EvaluationTotal, 'count' | 'micros'>

/** Returns text that is equal for counts that must be summed. */
export function countName(count: EvaluationCount): string {
  const { environmentId, flagId, minute, variationId, reason, source, instanceId } = count
  return JSON.stringify([environmentId, flagId, minute, variationId, reason, source, instanceId])
}

/**
 * Returns `added` with its number and duration of evaluations increased by those of `before`.
 * Returns `added` itself if `before` is `undefined`.
 */
export function sumOf<T extends Tally>(before: Tally | undefined, added: T): T {
  if (before === undefined) return added
  const { count, micros } = before
  return { ...added, count: count + added.count, micros: micros + added.micros }
}

/**
 * Returns the counts, with all counts of the same `countName` summed into one count, ordered by
 * this name. If all writers write rows in this order, they cause no deadlock. Throws
 * `INVALID_REQUEST` if a number in a count is not finite.
 */
export function mergeCounts(counts: readonly EvaluationCount[]): readonly EvaluationCount[] {
  counts.forEach(assertFinite)
  return sums(counts, countName)
}

/** Returns one total per outcome: the sums of its counts and durations on all instances. */
export function totalsOf(counts: Iterable<EvaluationCount>): readonly EvaluationTotal[] {
  return sums(counts, outcomeName).map(({ variationId, reason, source, count, micros }) => {
    return { variationId, reason, source, count, micros }
  })
}

function sums<T extends Tally>(tallies: Iterable<T>, nameOf: (tally: T) => string): readonly T[] {
  const found = new Map<string, T>()
  for (const tally of tallies) {
    const name = nameOf(tally)
    found.set(name, sumOf(found.get(name), tally))
  }
  const inOrder = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  return inOrder.map(([, tally]) => tally)
}

function outcomeName({ variationId, reason, source }: EvaluationOutcome): string {
  return JSON.stringify([variationId, reason, source])
}
