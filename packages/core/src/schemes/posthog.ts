import type { BucketingScheme } from '../model/extensions.ts'
import { bucketBelow, bucketUpTo, hexShare } from './scale.ts'
import { sha1 } from './sha1.ts'

/** The bucketing of PostHog. `salt` is the key of the flag. Variants use a separate hash. */
export const posthog: BucketingScheme = ({ salt, strategy }) => {
  if (strategy === 'variant') return (key) => bucketBelow(hexShare(sha1(`${salt}.${key}variant`)))
  return (key) => bucketUpTo(hexShare(sha1(`${salt}.${key}`)))
}
