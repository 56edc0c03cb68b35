import type { BucketingKey } from '../src/batch/bucketing-key.ts'
import { compileSalt } from '../src/rollouts/bucket.ts'

/**
 * Returns the buckets of a key for salts in ASCII, computed as for the rollouts of an outcome
 * table. All salts must have the same length modulo 4.
 */
export function keyBuckets(key: BucketingKey, salts: readonly string[]): number[] {
  const compiled = salts.map((salt) => compileSalt(salt).state)
  key.align((compiled[0]?.length ?? 0) % 4)
  // The last elements are changed too.
  const states = new Int32Array(salts.length + 3)
  states.set(compiled.map(({ blocks, rest }) => key.mixRest(blocks, rest)))
  key.mixBlocks(states, 0, salts.length)
  return compiled.map(({ length }, at) => key.bucketFor(states[at] ?? 0, length))
}
