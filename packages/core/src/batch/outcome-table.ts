import type { Outcome } from '../evaluation/outcome.ts'
import type { CompiledRule } from '../evaluation/rule.ts'
import type { AttributeReference } from '../model/attribute.ts'
import type { BucketRange } from '../model/definition.ts'
import { BUCKETS } from '../rollouts/bucket.ts'
import type { CompiledRollout } from '../rollouts/rollout.ts'
import { BLOCK_PREFIX } from './bucketing-key.ts'

/**
 * The outcomes of many rules as numbers in one array, created by `compileOutcomeTable`. Reading the
 * objects of all flags instead would take longer than the rest of an evaluation.
 */
export interface OutcomeTable {
  /**
   * One entry for each rule, followed by the rollouts. The entry of a rule is an outcome code,
   * `ELSEWHERE`, or the bitwise complement of the index of its rollout. A rollout consists of the
   * hash state of its salt, the number of its ranges minus 1, and two numbers for each range: the
   * end of the range and its outcome code or `NOTHING`.
   */
  readonly entries: Int32Array
  /** The bucketing attribute of the first rollout, which all rollouts in the table share. */
  readonly bucketBy: AttributeReference | undefined
}

/** The entry of a rule that has no outcome in the table. Hot loops use the literal -1. */
export const ELSEWHERE = -1
/** The code of a range that serves no variation. Hot loops use the literal -1. */
export const NOTHING = -1

/** The number of ranges up to which a linear search is faster than a binary search. */
const MAX_SCANNED_RANGES = 16

/**
 * Compiles the table. All rollouts in the table have the same bucketing key, the built-in scheme,
 * at most `MAX_SCANNED_RANGES` fixed ranges, and a salt of the length of generated salts. Rules
 * with other rollouts have the entry `ELSEWHERE`.
 */
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

/**
 * Returns the hash state of the rollout's salt. Returns `undefined` if the scheme, the ranges or
 * the salt exclude the rollout from the table. The caller checks the bucketing key.
 */
function stateOf({ salt, foreign, gradual, ranges }: CompiledRollout): number | undefined {
  if (foreign !== undefined || gradual !== undefined || ranges.length > MAX_SCANNED_RANGES)
    return undefined
  return salt.prefix.length === BLOCK_PREFIX ? salt.state : undefined
}

/**
 * Returns the end and code of each range and of each gap between ranges. The last end is `BUCKETS`.
 */
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

/** Returns the outcome code of a bucket in the rollout at the index `place`, or `NOTHING`. */
export function codeIn(entries: Int32Array, place: number, bucket: number): number {
  const first = place + 2
  const last = first + 2 * (entries[place + 1] ?? 0)
  // Without branches that depend on the bucket, because the CPU could not predict them.
  let range = first + ((((entries[first] ?? 0) - 1 - bucket) >>> 31) << 1)
  for (let each = first + 2; each < last; each += 2) {
    range += (((entries[each] ?? 0) - 1 - bucket) >>> 31) << 1
  }
  return entries[range + 1] ?? -1
}
