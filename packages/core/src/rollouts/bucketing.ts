import type { BucketRange } from '../model/definition.ts'
import type { BucketingScheme, Extensions } from '../model/extensions.ts'
import { BUCKETS, bucketIn, compileSalt } from './bucket.ts'

/** The name of our own scheme, which nothing that is handed in replaces. */
export const OWN_SCHEME = 'ff'

/** Our own formula, in the shape of the others. */
const own: BucketingScheme = ({ salt }) => {
  const compiled = compileSalt(salt)
  return (key) => bucketIn(compiled, key)
}

/** The scheme of this name; `undefined` if the caller did not pass it. */
export function findScheme(name: string, { schemes }: Extensions): BucketingScheme | undefined {
  return name === OWN_SCHEME ? own : schemes?.get(name)
}

/** What can be wrong with the settings that a scheme is given. */
export type RangesFault = 'range' | 'overlap' | 'weight'

/** What is wrong with ranges, which must be disjoint and ascending, or with their total weight. */
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
