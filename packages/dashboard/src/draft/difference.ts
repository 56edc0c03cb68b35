import type { Sentence } from '../messages/phrases/fragment.ts'
import type { ConfigurationField } from './flag-draft.ts'
import type { Names } from './sentence.ts'

/** A reason to show a difference as dangerous. */
export type Danger =
  | 'switched-on'
  | 'switched-off'
  | 'targets-removed'
  | 'reassigned'
  | 'moves-most'

/** A change between two configurations, as a sentence. */
export interface Difference {
  readonly sentence: Sentence
  /** The changed field, for the link to it and for its reset. */
  readonly field: ConfigurationField
  readonly danger: Danger | null
}

/** What sentences about differences depend on. */
export interface DifferenceOptions {
  readonly names: Names
  /** In production, switching on or off is dangerous. */
  readonly isProduction: boolean
  /** Epoch milliseconds. The shares of gradual rollouts depend on it. */
  readonly now: number
}

/**
 * Returns the ids of the items that moved, if the fewest possible items moved. Items in only one of
 * the lists are ignored.
 */
export function movedIds(before: readonly string[], after: readonly string[]): readonly string[] {
  const position = new Map(before.map((id, index) => [id, index]))
  const common = after.filter((id) => position.has(id))
  const kept = new Set(longestAscending(common, (id) => position.get(id) ?? 0))
  return common.filter((id) => !kept.has(id))
}

function longestAscending(ids: readonly string[], place: (id: string) => number): string[] {
  const best: string[][] = []
  for (const [index, id] of ids.entries()) {
    let longest: string[] = []
    for (let earlier = 0; earlier < index; earlier += 1) {
      const candidate = best[earlier] ?? []
      const last = candidate.at(-1)
      if (last === undefined || place(last) > place(id)) continue
      if (candidate.length > longest.length) longest = candidate
    }
    best.push([...longest, id])
  }
  return best.reduce((longest, each) => (each.length > longest.length ? each : longest), [])
}
