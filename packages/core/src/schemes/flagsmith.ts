import type { BucketingScheme } from '../model/extensions.ts'
import { md5 } from './md5.ts'
import { bucketBelow, bucketUpTo } from './scale.ts'

/**
 * The bucketing of Flagsmith. `salt` is the key of the segment or of the feature state. A
 * percentage includes its upper bound, so that 0 % includes the first bucket.
 */
export const flagsmith: BucketingScheme = ({ salt, strategy }) => {
  const bucketOf = strategy === 'variant' ? bucketBelow : bucketUpTo
  return (key) => bucketOf(shareOf([salt, key]))
}

/**
 * Returns the hash of a list of ids, scaled to a number from 0 to less than 1. If the scaled hash
 * is 1, the list is repeated and hashed again.
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
