import type { BucketingScheme } from '../model/extensions.ts'
import { murmur3 } from '../rollouts/bucket.ts'
import { bucketOfPlace } from './scale.ts'

/** The sum of the weights of a fractional rule if the rollout has no `totalWeight`. */
const USUAL_WEIGHT = 100

/**
 * The bucketing of flagd's `fractional` operation. `salt` is the text that the bucketing expression
 * prepends to the attribute, which can be empty. Without a bucketing expression, `salt` is the key
 * of the flag.
 */
export const flagd: BucketingScheme = ({ salt, totalWeight = USUAL_WEIGHT }) => {
  return (key) => {
    const place = Math.floor((murmur3(salt + key, 0) * totalWeight) / 2 ** 32)
    return bucketOfPlace(place, totalWeight)
  }
}
