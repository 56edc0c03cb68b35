import type { BucketingScheme } from '../model/extensions.ts'
import { murmur3 } from '../rollouts/bucket.ts'
import { bucketOfPlace } from './scale.ts'

/** What the weights of a fractional rule add up to unless the rollout says otherwise. */
const USUAL_WEIGHT = 100

/**
 * flagd's fractional: `salt` is what the bucketing expression puts before the attribute, which is
 * the flag's key where there is no expression, and may be empty.
 */
export const flagd: BucketingScheme = ({ salt, totalWeight = USUAL_WEIGHT }) => {
  return (key) => {
    const place = Math.floor((murmur3(salt + key, 0) * totalWeight) / 2 ** 32)
    return bucketOfPlace(place, totalWeight)
  }
}
