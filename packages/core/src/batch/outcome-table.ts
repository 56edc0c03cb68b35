import type { Outcome } from '../evaluation/outcome.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import type { AttributeReference } from '../model/attribute.ts'
import type { BucketRange } from '../model/definition.ts'
import { BUCKETS } from '../rollouts/bucket.ts'
import type { CompiledRollout } from '../rollouts/rollout.ts'
import { BLOCK_PREFIX } from './bucketing-key.ts'

/**
 * The outcomes of many rules as numbers that lie side by side: following objects from flag to flag
 * would cost more than the rest of an evaluation. Made by `compileOutcomeTable`.
 */
export interface OutcomeTable {
  /**
   * For each rule a code, or `ELSEWHERE`, or all the bits flipped of the place of its rollout. Then
   * come the rollouts: the state of the salt, the number of ranges but one, and pairs of where a
   * range of buckets ends and the code that it serves, or `NOTHING`.
   */
  readonly entries: Int32Array
  /** The bucketing key of all these rollouts. */
  readonly bucketBy: AttributeReference | undefined
}

/** The outcome of the rule is not in the table. Loops over all flags write -1. */
export const ELSEWHERE = -1
/** The rule serves nothing to the bucket. Loops over all flags write -1. */
export const NOTHING = -1

/** With more ranges, a binary search costs less than a look at every range. */
const MAX_SCANNED_RANGES = 16

/** Compiles the table. Rollouts with another bucketing key or another kind of salt are left out. */
export function compileOutcomeTable(rules: readonly (CompiledRule | undefined)[]): OutcomeTable {
  const rollouts: number[] = []
  const places = new Map<CompiledRollout, number>()
  let bucketBy: AttributeReference | undefined
  const entries = rules.map((rule) => {
    const serve = rule?.serve
    if (serve === undefined || serve.kind === 'nothing') return ELSEWHERE
    if (serve.kind !== 'rollout') return serve.outcome.code
    const { rollout, outcomes } = serve
    bucketBy ??= rollout.bucketBy
    const state = stateOf(rollout)
    if (state === undefined || rollout.bucketBy.name !== bucketBy.name) return ELSEWHERE
    const known = places.get(rollout)
    if (known !== undefined) return ~known
    const place = rules.length + rollouts.length
    const ends = endsOf(rollout.ranges, outcomes)
    places.set(rollout, place)
    rollouts.push(state, ends.length / 2 - 1, ...ends)
    return ~place
  })
  return { entries: Int32Array.from([...entries, ...rollouts]), bucketBy }
}

/** The state in which the hash of a key begins; `undefined` if that does not suffice for the bucket. */
function stateOf({ salt, foreign, gradual, ranges }: CompiledRollout): number | undefined {
  if (foreign !== undefined || gradual !== undefined || ranges.length > MAX_SCANNED_RANGES)
    return undefined
  return salt.prefix.length === BLOCK_PREFIX ? salt.state : undefined
}

/** The ends and codes of ranges and of the gaps between them; the last end is `BUCKETS`. */
function endsOf(ranges: readonly BucketRange[], outcomes: readonly Outcome[]): number[] {
  const ends: number[] = []
  let end = 0
  for (const [index, { from, to }] of ranges.entries()) {
    if (from > end) ends.push(from, NOTHING)
    ends.push(to, outcomes[index]?.code ?? NOTHING)
    end = to
  }
  if (end < BUCKETS) ends.push(BUCKETS, NOTHING)
  return ends
}

/** The code that the rollout at a place serves to a bucket. */
export function codeIn(entries: Int32Array, place: number, bucket: number): number {
  const first = place + 2
  const last = first + 2 * (entries[place + 1] ?? 0)
  // The range of a bucket is unpredictable, so nothing here branches on it.
  let range = first + ((((entries[first] ?? 0) - 1 - bucket) >>> 31) << 1)
  for (let each = first + 2; each < last; each += 2) {
    range += (((entries[each] ?? 0) - 1 - bucket) >>> 31) << 1
  }
  return entries[range + 1] ?? -1
}
