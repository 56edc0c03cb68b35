import type { BucketingScheme } from '../model/extensions.ts'
import { BUCKETS } from '../rollouts/bucket.ts'
import { bucketBelow, hexShare } from './scale.ts'
import { sha1 } from './sha1.ts'

/**
 * LaunchDarkly: `salt` is the flag's key, a dot and the flag's salt; where the rollout has a seed,
 * it is the seed instead. What lies past the last of several variations belongs to it.
 */
export const launchdarkly: BucketingScheme = ({ salt, strategy, ranges = [] }) => {
  const end = strategy === 'variant' ? (ranges.at(-1)?.to ?? BUCKETS) : BUCKETS
  return (key) => Math.min(bucketBelow(hexShare(sha1(`${salt}.${key}`))), end - 1)
}
