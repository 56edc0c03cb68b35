import type { Outcome } from '../evaluation/outcome.ts'
import type { Serve } from '../evaluation/rule.ts'
import type { AttributeReference } from '../model/attribute.ts'
import type { BucketRange } from '../model/definition.ts'
import { getOrMake } from '../model/get-or-make.ts'
import { BUCKETS } from '../rollouts/bucket.ts'
import { type GradualRollout, stepsTaken, stepTime } from '../rollouts/gradual-rollout.ts'
import { type CompiledRollout, gradualEnd } from '../rollouts/rollout.ts'

/**
 * The outcomes of many rule rows as numbers in one array, created by `compileOutcomeTable`. Reading
 * the objects of all flags instead would take longer than the rest of an evaluation.
 */
export interface OutcomeTable {
  /**
   * One entry for each rule row, followed by the rollouts. The entry of a row is an outcome code,
   * or the bitwise complement of the index of its rollout. A rollout consists of five numbers and
   * its ranges. The numbers are the hash state of the salt (see `BucketingKey`), the *phase*, the
   * characters of the rest of the salt, the length of the salt with the dot after it, and the
   * number of ranges minus 1. The phase is four times the index of the bucketing key, plus the
   * length of the rest. Each range has two numbers: its end, and its outcome code or `NOTHING`.
   */
  readonly entries: Int32Array
  /** The bucketing keys of the rollouts. */
  readonly bucketingKeys: readonly AttributeReference[]
  /** The entry of rows that the table does not represent. The phase of this rollout is -1. */
  readonly elsewhere: number
  readonly schedule: Schedule
}

/** The offset of the phase of a rollout. */
export const PHASE = 1
/** The offset of the first range of a rollout. Hot loops use literals for all offsets. */
const RANGES = 5

/** The code of a range that serves no variation. Hot loops use the literal -1. */
export const NOTHING = -1

/** The number of ranges up to which a linear search is faster than a binary search. */
const MAX_SCANNED_RANGES = 16

/**
 * Compiles the table. All rollouts in the table have the built-in scheme, a salt in ASCII, and a
 * schedule or at most `MAX_SCANNED_RANGES` ranges. All other rollouts have the entry `elsewhere`.
 */
export function compileOutcomeTable(serves: readonly (Serve | undefined)[]): OutcomeTable {
  const rollouts = [0, -1, 0, 0, 0, BUCKETS, NOTHING]
  const places = new Map<CompiledRollout, number>()
  const bucketingKeys: AttributeReference[] = []
  const slots = new Map<string, number>()
  const gradual: ScheduledRange[] = []
  const slotOf = (reference: AttributeReference) => {
    return getOrMake(slots, reference.name, () => bucketingKeys.push(reference) - 1)
  }
  const elsewhere = ~serves.length
  const entries = serves.map((serve) => {
    if (serve === undefined || serve.kind === 'nothing') return elsewhere
    if (serve.kind !== 'rollout') return serve.outcome.code
    const { rollout, outcomes } = serve
    const { foreign, ranges } = rollout
    const { state } = rollout.salt
    if (foreign !== undefined || ranges.length > MAX_SCANNED_RANGES || !state.isAscii)
      return elsewhere
    const known = places.get(rollout)
    if (known !== undefined) return ~known
    const place = serves.length + rollouts.length
    places.set(rollout, place)
    const phase = 4 * slotOf(rollout.bucketBy) + (state.length % 4)
    const ends = endsOf(rollout, outcomes)
    rollouts.push(state.blocks, phase, state.rest, state.length, ends.length / 2 - 1)
    rollouts.push(...ends)
    if (rollout.gradual !== undefined)
      gradual.push({ place: place + RANGES, schedule: rollout.gradual })
    return ~place
  })
  return {
    entries: Int32Array.from([...entries, ...rollouts]),
    bucketingKeys,
    elsewhere,
    schedule: new Schedule(gradual),
  }
}

/**
 * Returns the end and code of each range and of each gap between ranges. The last end is `BUCKETS`.
 * The only range of a gradual rollout is empty, because its end depends on the time.
 */
function endsOf(
  { gradual, ranges }: CompiledRollout,
  outcomes: readonly Outcome[],
): readonly number[] {
  if (gradual !== undefined) return [0, outcomes[0]?.code ?? NOTHING, BUCKETS, NOTHING]
  return endsOfRanges(ranges, outcomes)
}

function endsOfRanges(ranges: readonly BucketRange[], outcomes: readonly Outcome[]): number[] {
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

/** The range of a gradual rollout in a table. */
interface ScheduledRange {
  /** The index of the end of the range. */
  readonly place: number
  readonly schedule: GradualRollout
}

/** The gradual rollouts of a table. The ends of their ranges are set for one period at a time. */
class Schedule {
  readonly #ranges: readonly ScheduledRange[]
  /** The period without steps for which the ends are set, in epoch milliseconds. */
  #from = Infinity
  #until = -Infinity

  constructor(ranges: readonly ScheduledRange[]) {
    this.#ranges = ranges
  }

  /** Sets the ends of all ranges in `entries` for a point in time. */
  resolve(entries: Int32Array, now: number): void {
    if (this.#from <= now && now < this.#until) return
    this.#from = -Infinity
    // The period of NaN is empty, so that its ends are set for no other time.
    this.#until = Number.isNaN(now) ? -Infinity : Infinity
    for (const { place, schedule } of this.#ranges) {
      const taken = stepsTaken(schedule, now)
      entries[place] = gradualEnd(schedule, now)
      if (taken > 0) this.#from = Math.max(this.#from, stepTime(schedule, taken))
      if (taken < schedule.steps) this.#until = Math.min(this.#until, stepTime(schedule, taken + 1))
    }
  }
}

/** Returns the outcome code of a bucket in the rollout at the index `place`, or `NOTHING`. */
export function codeIn(entries: Int32Array, place: number, bucket: number): number {
  const first = place + 5
  const last = first + 2 * (entries[place + 4] ?? 0)
  // Without branches that depend on the bucket, because the CPU could not predict them.
  let range = first + ((((entries[first] ?? 0) - 1 - bucket) >>> 31) << 1)
  for (let each = first + 2; each < last; each += 2) {
    range += (((entries[each] ?? 0) - 1 - bucket) >>> 31) << 1
  }
  return entries[range + 1] ?? -1
}
