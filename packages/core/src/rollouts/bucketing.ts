import type { BucketRange } from '../model/definition.ts'
import type { BucketingScheme, Extensions } from '../model/extensions.ts'
import { BUCKETS, bucketIn, compileSalt } from './bucket.ts'

/** The name of the built-in scheme. Extensions cannot replace it. */
export const OWN_SCHEME = 'ff'

/** The built-in formula as a `BucketingScheme`. */
const own: BucketingScheme = ({ salt }) => {
  const compiled = compileSalt(salt)
  return (key) => bucketIn(compiled, key)
}

/** Returns the scheme with a name, or `undefined` if the extensions do not contain the scheme. */
export function findScheme(name: string, { schemes }: Extensions): BucketingScheme | undefined {
  return name === OWN_SCHEME ? own : schemes?.get(name)
}

/** A fault of ranges or of their total weight. */
export type RangesFault = 'range' | 'overlap' | 'weight'

/**
 * Returns the fault of ranges or of their total weight, or `undefined` if both are valid. Ranges
 * must be in ascending order and must not overlap.
 */
export function rangesFault(
  ranges: readonly Pick<BucketRange, 'from' | 'to'>[],
  totalWeight: unknown = 1,
): RangesFault | undefined {
  let end = 0
  for (const { from, to } of ranges) {
    if (!Number.isInteger(from) || !Number.isInteger(to) || to < from || to > BUCKETS) {
      return 'range'
    }
    if (from < end) return 'overlap'
    end = to
  }
  const weight = Number.isInteger(totalWeight) ? (totalWeight as number) : 0
  return weight >= 1 && weight <= BUCKETS ? undefined : 'weight'
}
