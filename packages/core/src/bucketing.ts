import { BUCKETS, bucketIn, compileSalt } from './bucket.ts'
import type { BucketingScheme, Engines } from './engines.ts'

/** The name of our own scheme, which nothing that is handed in replaces. */
export const OWN_SCHEME = 'ff'

/** Our own formula, in the shape of the others. */
const own: BucketingScheme = ({ salt }) => {
  const compiled = compileSalt(salt)
  return (key) => bucketIn(compiled, key)
}

/** The scheme of this name; undefined: nobody has handed it to the engine. */
export function findScheme(name: string, { schemes }: Engines): BucketingScheme | undefined {
  return name === OWN_SCHEME ? own : schemes?.get(name)
}

/** Whether a scheme can count in parts of this total: a whole number from 1 to `BUCKETS`. */
export function isTotalWeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= BUCKETS
}
