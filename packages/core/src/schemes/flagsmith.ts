import type { BucketingScheme } from '../model/extensions.ts'
import { md5 } from './md5.ts'
import { bucketBelow, bucketUpTo } from './scale.ts'

/**
 * The bucketing of Flagsmith. `salt` is the key of the segment or of the feature state. A
 * percentage includes its upper bound, so that 0 % is the range of the first bucket.
 */
export const flagsmith: BucketingScheme = ({ salt, strategy }) => {
  const bucketOf = strategy === 'variant' ? bucketBelow : bucketUpTo
  return (key) => bucketOf(shareOf([salt, key]))
}

/**
 * Returns a share from 0 to less than 1. If the result is 1, the ids are hashed again, repeated.
 */
function shareOf(ids: readonly string[]): number {
  const repeated = [...ids]
  for (;;) {
    const share = remainderOf(md5(repeated.join(','))) / 9998
    if (share < 1) return share
    repeated.push(...ids)
  }
}

/** Returns a hexadecimal number modulo 9999. */
function remainderOf(hash: string): number {
  let remainder = 0
  for (const digit of hash) remainder = (remainder * 16 + Number.parseInt(digit, 16)) % 9999
  return remainder
}
