import { type AttributeReference, compileReference, readBucketingKey } from '../model/attribute.ts'
import type { EvaluationContext } from '../model/context.ts'
import type {
  BucketRange,
  GradualRolloutDefinition,
  RolloutDefinition,
} from '../model/definition.ts'
import { FlagError } from '../model/errors.ts'
import type { BucketingScheme, Extensions } from '../model/extensions.ts'
import { elementsOf } from '../model/json.ts'
import { BUCKETS, bucketIn, compileSalt, type HashPrefix } from './bucket.ts'
import { findScheme, OWN_SCHEME, type RangesFault, rangesFault } from './bucketing.ts'
import {
  compileGradualRollout,
  type GradualRollout,
  type GradualRolloutFault,
  stepsTaken,
} from './gradual-rollout.ts'

/** A rollout that is prepared for evaluation. Created by `compileRollout`. */
export interface CompiledRollout {
  readonly id: string
  readonly bucketBy: AttributeReference
  readonly salt: HashPrefix
  /** The formula of another system. `undefined` for the built-in formula. */
  readonly foreign: ReturnType<BucketingScheme> | undefined
  /** The ranges in ascending order, without overlaps. Empty for a gradual rollout. */
  readonly ranges: readonly BucketRange[]
  readonly gradual: GradualRollout | undefined
  /** The fault of the definition. `undefined` if the rollout can be evaluated. */
  readonly fault: RolloutFault | undefined
}

/** A fault of a rollout. `scheme` means that its bucketing scheme is unknown. */
export type RolloutFault = GradualRolloutFault | RangesFault | 'scheme'

/** The bucket of a context in a rollout. */
export interface Placement {
  readonly bucket: number
  /** The index of the range that contains the bucket, or -1 if the bucket has no variation. */
  readonly number: number
  /** The range. `undefined` if the bucket has no variation. */
  readonly range: BucketRange | undefined
}

/**
 * Compiles a rollout. An invalid rollout has a `fault`. Throws only if the definition does not have
 * the declared type.
 */
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

/** Returns the schedule of a gradual rollout, or `undefined` if the rollout is invalid. */
export function scheduleOf(
  definition: GradualRolloutDefinition,
  extensions: Extensions,
): GradualRollout | undefined {
  const gradual = compileGradualRollout(definition)
  const hasScheme = findScheme(definition.scheme, extensions) !== undefined
  return hasScheme && gradual.fault === undefined ? gradual : undefined
}

type Table = Pick<CompiledRollout, 'ranges' | 'gradual' | 'fault'>

/** Compiles the ranges or the schedule, which do not depend on the bucketing scheme. */
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

/**
 * Returns the placement of a context at `now` (epoch milliseconds), or `undefined` if the context
 * has no bucketing key.
 */
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
  if (number === -1) return { bucket, number, range: undefined }
  const range = gradual === undefined ? ranges[number] : gradualRange(gradual, now)
  return { bucket, number, range }
}

/** Returns the bucket of a key by the scheme of the rollout. */
export function bucketFor({ foreign, salt }: CompiledRollout, key: string): number {
  return foreign?.(key) ?? bucketIn(salt, key)
}

/**
 * Returns the index of the range that contains a bucket, or -1 if there is none. The only range of
 * a gradual rollout has the index 0.
 */
export function rangeNumber(
  { gradual, ranges }: CompiledRollout,
  bucket: number,
  now: number,
): number {
  if (gradual !== undefined) return bucket < gradualEnd(gradual, now) ? 0 : -1
  return findRange(ranges, bucket)
}

/**
 * Returns the ranges of a rollout at `now` (epoch milliseconds). Empty if the rollout is invalid.
 */
export function rangesAt(definition: RolloutDefinition, now: number): readonly BucketRange[] {
  const { ranges, gradual, fault } = compileTable(definition)
  if (fault !== undefined) return []
  return gradual === undefined ? ranges : sortedRanges([gradualRange(gradual, now)])
}

function gradualRange(gradual: GradualRollout, now: number): BucketRange {
  return { variationId: gradual.variationId, from: 0, to: gradualEnd(gradual, now) }
}

/** Returns the end of the range of a gradual rollout at `now` (epoch milliseconds). */
export function gradualEnd(gradual: GradualRollout, now: number): number {
  return Math.min(gradual.target, gradual.increment * stepsTaken(gradual, now))
}

/**
 * Returns the id of the variation of a bucket, or `undefined` if no range contains the bucket. The
 * ranges must be in ascending order and must not overlap.
 */
export function pickVariation(ranges: readonly BucketRange[], bucket: number): string | undefined {
  return ranges[findRange(ranges, bucket)]?.variationId
}

/**
 * Returns the index of the range that contains a bucket, or -1 if there is none. The ranges must be
 * in ascending order.
 */
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

/** The share of a variation in a rollout. */
export interface Share {
  readonly variationId: string
  /** The share in percent, from 0 to 100 with at most three decimals. */
  readonly weight: number
}

/**
 * Returns the ranges of buckets for shares, in the order of the shares. Buckets above the sum of
 * the weights have no variation. Throws `INVALID_DEFINITION` if a weight is negative or has more
 * than three decimals, or if the sum exceeds 100 %.
 */
export function rangesOf(shares: readonly Share[]): BucketRange[] {
  const ranges: BucketRange[] = []
  let from = 0
  for (const { variationId, weight } of shares) {
    const to = from + bucketsOf(weight)
    if (to > BUCKETS) throw new FlagError('INVALID_DEFINITION', 'The weights exceed 100 % in total')
    if (to > from) ranges.push({ variationId, from, to })
    from = to
  }
  return ranges
}

function bucketsOf(weight: number): number {
  const exact = weight * (BUCKETS / 100)
  const buckets = Math.round(exact)
  // The binary value of a fraction such as 33.333 has an error, but far less than this limit.
  if (buckets >= 0 && Math.abs(exact - buckets) < 1e-6) return buckets
  const message = `A weight must be from 0 to 100 %, with at most three decimals (got ${weight})`
  throw new FlagError('INVALID_DEFINITION', message)
}
