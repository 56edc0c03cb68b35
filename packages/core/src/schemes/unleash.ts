import type { BucketingScheme, BucketingSettings } from '../model/extensions.ts'
import { type CompileHash, lowByteHash, utf8Hash } from './murmur.ts'
import { bucketOfPlace } from './scale.ts'

const VARIANT_SEED = 86_028_157
/** The sum of the weights of variants if the rollout has no `totalWeight`. */
const USUAL_WEIGHT = 1000

/**
 * The bucketing of Unleash. `salt` is the group id. Percentages use `murmur3(salt:key) % 100`.
 * Variants use a hash with another seed, modulo the total weight.
 */
export const unleash: BucketingScheme = (settings) => compile(settings, utf8Hash)

/**
 * The bucketing of Unleash's SDK for Node.js. It differs from `unleash` only if the salt or the key
 * is not ASCII.
 */
export const unleashNode: BucketingScheme = (settings) => compile(settings, lowByteHash)

function compile(settings: BucketingSettings, compileHash: CompileHash) {
  const { salt, strategy, totalWeight = USUAL_WEIGHT } = settings
  const [seed, places] = strategy === 'variant' ? [VARIANT_SEED, totalWeight] : [0, 100]
  const hashOf = compileHash(`${salt}:`, seed)
  return (key: string) => bucketOfPlace(hashOf(key) % places, places)
}
