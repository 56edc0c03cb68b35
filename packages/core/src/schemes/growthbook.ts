import type { BucketingScheme } from '../model/engines.ts'
import { fnv1a32 } from './fnv1a32.ts'
import { bucketOfPlace } from './scale.ts'

/** GrowthBook, hash version 1: `salt` is the seed, by default the experiment's or feature's key. */
export const growthbook1: BucketingScheme = ({ salt }) => {
  return (key) => bucketOfPlace(fnv1a32(key + salt) % 1000, 1000)
}

/** GrowthBook, hash version 2: as version 1, hashed twice. */
export const growthbook2: BucketingScheme = ({ salt }) => {
  return (key) => bucketOfPlace(fnv1a32(String(fnv1a32(salt + key))) % 10_000, 10_000)
}
