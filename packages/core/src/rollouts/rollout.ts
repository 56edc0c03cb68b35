import { type AttributeReference, compileReference, readBucketingKey } from '../model/attribute.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { BucketRange, RolloutDefinition } from '../model/definition.ts'
import { FlagError } from '../model/errors.ts'
import type { BucketingScheme, Extensions } from '../model/extensions.ts'
import { elementsOf } from '../model/json.ts'
import { BUCKETS, bucketIn, type CompiledSalt, compileSalt } from './bucket.ts'
import { findScheme, OWN_SCHEME, type RangesFault, rangesFault } from './bucketing.ts'
import {
  compileGradualRollout,
  type GradualRollout,
  type GradualRolloutFault,
  stepsTaken,
} from './gradual-rollout.ts'

/** A rollout made ready for evaluation. Made by `compileRollout`. */
export interface CompiledRollout {
  readonly id: string
  readonly bucketBy: AttributeReference
  readonly salt: CompiledSalt
  /** Another system's formula; undefined: our own. */
  readonly foreign: ReturnType<BucketingScheme> | undefined
  /** In ascending order, disjoint. Empty for a gradual rollout. */
  readonly ranges: readonly BucketRange[]
  readonly gradual: GradualRollout | undefined
  /** Why it cannot be followed. */
  readonly fault: RolloutFault | undefined
}

/** What is wrong with a rollout; `scheme`: it was not handed to the engine. */
export type RolloutFault = GradualRolloutFault | RangesFault | 'scheme'

/** Where a rollout puts a context. */
export interface Placement {
  readonly bucket: number
  /** undefined: the bucket belongs to no variation. */
  readonly range: BucketRange | undefined
}

/** Prepares a rollout. Never throws on a readable definition; what is wrong is its `fault`. */
export function compileRollout(
  definition: RolloutDefinition,
  extensions: Extensions = {},
): CompiledRollout {
  const { id, bucketBy, salt, scheme } = definition
  const { ranges, gradual, fault } = compileTable(definition)
  const dealer = findScheme(scheme, extensions)
  const foreign = scheme === OWN_SCHEME ? undefined : dealer
  return {
    id,
    bucketBy: compileReference(bucketBy),
    salt: compileSalt(salt),
    foreign: fault === undefined ? foreign?.({ ...definition, ranges }) : undefined,
    ranges,
    gradual,
    fault: fault ?? (dealer === undefined ? 'scheme' : undefined),
  }
}

type Table = Pick<CompiledRollout, 'ranges' | 'gradual' | 'fault'>

/** The ranges of the buckets, whatever the bucketing scheme. */
function compileTable(definition: RolloutDefinition): Table {
  if (definition.strategy === 'gradual') {
    const gradual = compileGradualRollout(definition)
    const { fault } = gradual
    return { ranges: [], gradual: fault === undefined ? gradual : undefined, fault }
  }
  const ranges = sortedRanges(elementsOf(definition.ranges))
  return { ranges, gradual: undefined, fault: rangesFault(ranges, definition.totalWeight) }
}

function sortedRanges(ranges: readonly BucketRange[]): readonly BucketRange[] {
  return ranges.filter(({ from, to }) => from !== to).sort((left, right) => left.from - right.from)
}

/** Places a context; undefined: it has no key to be placed by. */
export function placeIn(
  rollout: CompiledRollout,
  context: EvaluationContext,
  now: number,
): Placement | undefined {
  const key = readBucketingKey(context, rollout.bucketBy)
  if (key === undefined) return undefined
  const bucket = bucketFor(rollout, key)
  const { gradual, ranges } = rollout
  const number = rangeNumber(rollout, bucket, now)
  if (number === -1) return { bucket, range: undefined }
  return { bucket, range: gradual === undefined ? ranges[number] : gradualRange(gradual, now) }
}

/** The bucket of a key, by whatever scheme. */
export function bucketFor({ foreign, salt }: CompiledRollout, key: string): number {
  return foreign?.(key) ?? bucketIn(salt, key)
}

/** The number of the range that holds a bucket, -1: none does. The range of a gradual rollout is 0. */
export function rangeNumber(
  { gradual, ranges }: CompiledRollout,
  bucket: number,
  now: number,
): number {
  if (gradual !== undefined) return bucket < gradualEnd(gradual, now) ? 0 : -1
  return findRange(ranges, bucket)
}

/** The ranges of a rollout at a point in time; empty if the rollout cannot be followed. */
export function rangesAt(definition: RolloutDefinition, now: number): readonly BucketRange[] {
  const { ranges, gradual, fault } = compileTable(definition)
  if (fault !== undefined) return []
  return gradual === undefined ? ranges : sortedRanges([gradualRange(gradual, now)])
}

function gradualRange(gradual: GradualRollout, now: number): BucketRange {
  return { variationId: gradual.variationId, from: 0, to: gradualEnd(gradual, now) }
}

function gradualEnd(gradual: GradualRollout, now: number): number {
  return Math.min(gradual.target, gradual.increment * stepsTaken(gradual, now))
}

/** The variation that a bucket belongs to. The ranges must be disjoint and in ascending order. */
export function pickVariation(ranges: readonly BucketRange[], bucket: number): string | undefined {
  return ranges[findRange(ranges, bucket)]?.variationId
}

/** The number of the range that holds a bucket, of ranges in ascending order; -1: none does. */
export function findRange(ranges: readonly BucketRange[], bucket: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const range = ranges[middle]
    if (range === undefined || bucket < range.from) high = middle
    else if (bucket >= range.to) low = middle + 1
    else return middle
  }
  return -1
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
