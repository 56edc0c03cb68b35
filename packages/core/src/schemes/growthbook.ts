import type { BucketingScheme } from '../model/extensions.ts'
import { bucketOfPlace } from './scale.ts'

/** GrowthBook, hash version 1: `salt` is the seed, by default the experiment's or feature's key. */
export const growthbook1: BucketingScheme = ({ salt }) => {
  return (key) => bucketOfPlace(fnv1a32(key + salt) % 1000, 1000)
}

/** GrowthBook, hash version 2: as version 1, hashed twice. */
export const growthbook2: BucketingScheme = ({ salt }) => {
  return (key) => bucketOfPlace(fnv1a32(String(fnv1a32(salt + key))) % 10_000, 10_000)
}

/** FNV-1a of 32 bits, unsigned, over the UTF-16 units of a text: for ASCII the same as over its bytes. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
