import { type AttributeReference, compileReference, readBucketingKey } from './attribute.ts'
import { BUCKETS, bucketIn, type CompiledSalt, compileSalt } from './bucket.ts'
import type { EvaluationContext } from './context.ts'
import type { BucketRange, RolloutDefinition } from './definition.ts'
import { FlagError } from './errors.ts'
import { compileRamp, type Ramp, stepsTaken } from './ramp.ts'

/** A rollout made ready for evaluation. Made by `compileRollout`. */
export interface CompiledRollout {
  readonly id: string
  readonly bucketBy: AttributeReference
  readonly salt: CompiledSalt
  /** In ascending order, disjoint. Empty for a ramp. */
  readonly ranges: readonly BucketRange[]
  readonly ramp: Ramp | undefined
  /** Why nobody can be served from it, as a sentence. */
  readonly fault: string | undefined
}

/** Where a rollout puts a context. */
export interface Placement {
  readonly bucket: number
  /** undefined: the bucket belongs to no variation. */
  readonly range: BucketRange | undefined
}

/** Prepares a rollout. Never throws on a readable definition; what is wrong is its `fault`. */
export function compileRollout(definition: RolloutDefinition): CompiledRollout {
  const ramp = definition.strategy === 'gradual' ? compileRamp(definition) : undefined
  const ranges = definition.strategy === 'gradual' ? [] : sortedRanges(definition.ranges)
  return {
    id: definition.id,
    bucketBy: compileReference(definition.bucketBy),
    salt: compileSalt(definition.salt),
    ranges,
    ramp: ramp?.fault === undefined ? ramp : undefined,
    fault: schemeFault(definition.scheme) ?? ramp?.fault ?? rangesFault(ranges),
  }
}

function schemeFault(scheme: string): string | undefined {
  return scheme === 'ff' ? undefined : `The bucketing scheme "${scheme}" is not supported.`
}

function sortedRanges(ranges: readonly BucketRange[]): readonly BucketRange[] {
  return ranges.filter(({ from, to }) => from !== to).sort((left, right) => left.from - right.from)
}

function rangesFault(ranges: readonly BucketRange[]): string | undefined {
  let end = 0
  for (const { from, to } of ranges) {
    if (!Number.isInteger(from) || !Number.isInteger(to) || to < from || to > BUCKETS) {
      return `A range must be two whole numbers from 0 to ${BUCKETS}, the lower one first.`
    }
    if (from < end) return 'Ranges must not overlap.'
    end = to
  }
  return undefined
}

/** Places a context; undefined: it has no key to be placed by. */
export function placeIn(
  rollout: CompiledRollout,
  context: EvaluationContext,
  now: number,
): Placement | undefined {
  const key = readBucketingKey(context, rollout.bucketBy)
  if (key === undefined) return undefined
  const bucket = bucketIn(rollout.salt, key)
  const { ramp } = rollout
  if (ramp === undefined) return { bucket, range: findRange(rollout.ranges, bucket) }
  const range = rampRange(ramp, now)
  return { bucket, range: bucket < range.to ? range : undefined }
}

/** Who owns which buckets at an instant; nobody does when the rollout cannot be followed. */
export function rangesAt(definition: RolloutDefinition, now: number): readonly BucketRange[] {
  const { ranges, ramp, fault } = compileRollout(definition)
  if (fault !== undefined) return []
  return ramp === undefined ? ranges : sortedRanges([rampRange(ramp, now)])
}

function rampRange(ramp: Ramp, now: number): BucketRange {
  const to = Math.min(ramp.target, ramp.increment * stepsTaken(ramp, now))
  return { variationId: ramp.variationId, from: 0, to }
}

/** The variation that a bucket belongs to. The ranges must be disjoint and in ascending order. */
export function pickVariation(ranges: readonly BucketRange[], bucket: number): string | undefined {
  return findRange(ranges, bucket)?.variationId
}

function findRange(ranges: readonly BucketRange[], bucket: number): BucketRange | undefined {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const range = ranges[middle]
    if (range === undefined || bucket < range.from) high = middle
    else if (bucket >= range.to) low = middle + 1
    else return range
  }
  return undefined
}

/** A variation's share in percent, at most three decimals. */
export interface Share {
  readonly variationId: string
  readonly weight: number
}

/**
 * Gives each variation its share of the buckets, in the order given; what the weights leave of
 * 100 % belongs to nobody. Throws `INVALID_DEFINITION` for a weight that is negative or has more
 * than three decimals, and for more than 100 % in all.
 */
export function rangesOf(shares: readonly Share[]): BucketRange[] {
  const ranges: BucketRange[] = []
  let from = 0
  for (const { variationId, weight } of shares) {
    const to = from + bucketsOf(weight)
    if (to > BUCKETS) throw new FlagError('INVALID_DEFINITION', 'The weights exceed 100 %')
    if (to > from) ranges.push({ variationId, from, to })
    from = to
  }
  return ranges
}

function bucketsOf(weight: number): number {
  const exact = weight * (BUCKETS / 100)
  const buckets = Math.round(exact)
  // A decimal fraction such as 33.333 is not exact in binary, but far nearer than this.
  if (buckets >= 0 && Math.abs(exact - buckets) < 1e-6) return buckets
  const message = 'A weight must be a percentage of 0 or more, with at most three decimals'
  throw new FlagError('INVALID_DEFINITION', message)
}
