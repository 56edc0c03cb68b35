import type { BucketingKey } from '../src/batch/bucketing-key.ts'
import { compileSalt } from '../src/rollouts/bucket.ts'

/**
 * Returns the buckets of a key for salts in ASCII, computed as for the rollouts of an outcome
 * table. All salts must have the same length modulo 4.
 */
export function keyBuckets(key: BucketingKey, salts: readonly string[]): number[] {
  const starts = salts.map((salt) => {
    const { start } = compileSalt(salt)
    if (start === undefined) throw new Error(`The salt ${salt} is not ASCII`)
    return start
  })
  key.align((starts[0]?.length ?? 0) % 4)
  // The last elements are changed too.
  const states = new Int32Array(salts.length + 3)
  states.set(starts.map(({ state, rest }) => key.mixRest(state, rest)))
  key.mixBlocks(states, 0, salts.length)
  return starts.map(({ length }, at) => key.bucketFor(states[at] ?? 0, length))
}
