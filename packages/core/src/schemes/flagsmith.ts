import type { BucketingScheme } from '../model/extensions.ts'
import { md5 } from './md5.ts'
import { bucketBelow, bucketUpTo } from './scale.ts'

/**
 * Flagsmith: `salt` is the key of the segment or the feature state. A percentage includes those
 * who are exactly there, 0 % too: it is the range of the first bucket alone.
 */
export const flagsmith: BucketingScheme = ({ salt, strategy }) => {
  const bucketOf = strategy === 'variant' ? bucketBelow : bucketUpTo
  return (key) => bucketOf(shareOf([salt, key]))
}

/** At least 0, and less than 1: the ids are hashed once more, repeated, until it is. */
function shareOf(ids: readonly string[]): number {
  const repeated = [...ids]
  for (;;) {
    const share = remainderOf(md5(repeated.join(','))) / 9998
    if (share < 1) return share
    repeated.push(...ids)
  }
}

/** The number that the hex digits write, modulo 9999. */
function remainderOf(hash: string): number {
  let remainder = 0
  for (const digit of hash) remainder = (remainder * 16 + Number.parseInt(digit, 16)) % 9999
  return remainder
}
