import type { BucketingScheme } from '../model/extensions.ts'
import { compilePrefix, hashAfter } from '../rollouts/bucket.ts'
import { bucketOfPlace } from './scale.ts'

const VARIANT_SEED = 86_028_157
/** The sum of the weights of variants if the rollout has no `totalWeight`. */
const USUAL_WEIGHT = 1000

/**
 * The bucketing of Unleash. `salt` is the group id. Percentages use `murmur3(salt:key) % 100`.
 * Variants use a hash with another seed, modulo the total weight.
 */
export const unleash: BucketingScheme = ({ salt, strategy, totalWeight = USUAL_WEIGHT }) => {
  const [seed, places] = strategy === 'variant' ? [VARIANT_SEED, totalWeight] : [0, 100]
  const prefix = compilePrefix(`${salt}:`, seed)
  return (key) => bucketOfPlace(hashAfter(prefix, key) % places, places)
}
