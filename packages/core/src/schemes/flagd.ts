import type { BucketingScheme } from '../model/extensions.ts'
import { compilePrefix, hashAfter } from '../rollouts/bucket.ts'
import { bucketOfPlace } from './scale.ts'

/** The sum of the weights of a fractional rule if the rollout has no `totalWeight`. */
const USUAL_WEIGHT = 100

/**
 * The bucketing of flagd's `fractional` operation. `salt` is the text that the bucketing expression
 * prepends to the attribute, which can be empty. Without a bucketing expression, `salt` is the key
 * of the flag.
 */
export const flagd: BucketingScheme = ({ salt, totalWeight = USUAL_WEIGHT }) => {
  const prefix = compilePrefix(salt)
  return (key) => {
    const place = Math.floor((hashAfter(prefix, key) * totalWeight) / 2 ** 32)
    return bucketOfPlace(place, totalWeight)
  }
}
