import type { BucketingScheme } from '../model/extensions.ts'
import { murmur3 } from '../rollouts/bucket.ts'
import { bucketOfPlace } from './scale.ts'

const VARIANT_SEED = 86_028_157
/** What the weights of variants add up to unless the rollout says otherwise. */
const USUAL_WEIGHT = 1000

/**
 * Unleash: `salt` is the group id. A percentage looks at `murmur3(salt:key) % 100`, variants at
 * another hash modulo the total weight.
 */
export const unleash: BucketingScheme = ({ salt, strategy, totalWeight = USUAL_WEIGHT }) => {
  const [seed, places] = strategy === 'variant' ? [VARIANT_SEED, totalWeight] : [0, 100]
  return (key) => bucketOfPlace(murmur3(`${salt}:${key}`, seed) % places, places)
}
