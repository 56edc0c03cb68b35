import type { BucketingScheme, BucketingSettings } from '../model/extensions.ts'
import { type CompileHash, utf8Hash, wideUnitHash } from './murmur.ts'
import { bucketOfPlace } from './scale.ts'

/** The sum of the weights of a fractional rule if the rollout has no `totalWeight`. */
const USUAL_WEIGHT = 100

/**
 * The bucketing of flagd's `fractional` operation. `salt` is the text that the bucketing expression
 * prepends to the attribute, which can be empty. Without a bucketing expression, `salt` is the key
 * of the flag.
 */
export const flagd: BucketingScheme = (settings) => compile(settings, utf8Hash)

/**
 * The bucketing of the package `@openfeature/flagd-core` for JavaScript. It differs from `flagd`
 * only if the salt or the key is not ASCII.
 */
export const flagdJs: BucketingScheme = (settings) => compile(settings, wideUnitHash)

function compile({ salt, totalWeight = USUAL_WEIGHT }: BucketingSettings, hash: CompileHash) {
  const hashOf = hash(salt)
  return (key: string) => {
    const place = Math.floor((hashOf(key) * totalWeight) / 2 ** 32)
    return bucketOfPlace(place, totalWeight)
  }
}
