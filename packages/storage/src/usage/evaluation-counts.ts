import { assertFinite } from '../ports/storable.ts'
import type { EvaluationCount, EvaluationOutcome, EvaluationTotal } from '../ports/storage.ts'

type Tally = Pick<EvaluationTotal, 'count' | 'micros'>

/** A text that all counts have in common that are added up. */
export function countName(count: EvaluationCount): string {
  const { environmentId, flagId, minute, variationId, reason, source } = count
  return JSON.stringify([environmentId, flagId, minute, variationId, reason, source])
}

/** `added` on top of what was counted before, if anything was. */
export function sumOf<T extends Tally>(before: Tally | undefined, added: T): T {
  if (before === undefined) return added
  const { count, micros } = before
  return { ...added, count: count + added.count, micros: micros + added.micros }
}

/** The counts, one for each name. Throws `INVALID_REQUEST` if a number among them is not finite. */
export function mergeCounts(counts: readonly EvaluationCount[]): readonly EvaluationCount[] {
  counts.forEach(assertFinite)
  return sums(counts, countName)
}

/** One total for each outcome. */
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
  return [...found.values()]
}

function outcomeName({ variationId, reason, source }: EvaluationOutcome): string {
  return JSON.stringify([variationId, reason, source])
}
