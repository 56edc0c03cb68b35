import type { BucketingScheme } from '../model/extensions.ts'
import { bucketOfPlace } from './scale.ts'
import { sha1 } from './sha1.ts'

/** The bucketing of ConfigCat. `salt` is the key of the setting. */
export const configcat: BucketingScheme = ({ salt }) => {
  return (key) => bucketOfPlace(Number.parseInt(sha1(salt + key).slice(0, 7), 16) % 100, 100)
}
