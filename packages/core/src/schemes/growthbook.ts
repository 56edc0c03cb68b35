import type { BucketingScheme } from '../model/extensions.ts'
import { bucketOfPlace } from './scale.ts'

/**
 * The bucketing of GrowthBook, hash version 1. `salt` is the seed, by default the key of the
 * experiment or feature.
 */
export const growthbook1: BucketingScheme = ({ salt }) => {
  return (key) => bucketOfPlace(fnv1a32(key + salt) % 1000, 1000)
}

/** The bucketing of GrowthBook, hash version 2, which hashes twice. `salt` is as in version 1. */
export const growthbook2: BucketingScheme = ({ salt }) => {
  return (key) => bucketOfPlace(fnv1a32(String(fnv1a32(salt + key))) % 10_000, 10_000)
}

/**
 * Returns the unsigned 32-bit FNV-1a hash of the UTF-16 units of a text. For ASCII, this is the
 * hash of its bytes.
 */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
