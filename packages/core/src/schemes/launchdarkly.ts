import type { BucketingScheme } from '../model/extensions.ts'
import { BUCKETS } from '../rollouts/bucket.ts'
import { bucketBelow, hexShare } from './scale.ts'
import { sha1 } from './sha1.ts'

/**
 * The bucketing of LaunchDarkly. `salt` is the seed of the rollout or, without a seed, the key of
 * the flag, a dot and the salt of the flag. In a rollout of several variations, the last variation
 * also receives the buckets after its range.
 */
export const launchdarkly: BucketingScheme = ({ salt, strategy, ranges = [] }) => {
  const end = strategy === 'variant' ? (ranges.at(-1)?.to ?? BUCKETS) : BUCKETS
  return (key) => Math.min(bucketBelow(hexShare(sha1(`${salt}.${key}`))), end - 1)
}
