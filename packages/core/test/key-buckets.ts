import type { BucketingKey } from '../src/batch/bucketing-key.ts'
import { compileSalt } from '../src/rollouts/bucket.ts'

/**
 * Returns the buckets of a key for salts in ASCII, computed as for the rollouts of an outcome
 * table. All salts must have the same length modulo 4.
 */
export function keyBuckets(key: BucketingKey, salts: readonly string[]): number[] {
  const compiled = salts.map(compileSalt)
  key.align(compiled[0]?.rest.length ?? 0)
  // The last elements are changed too.
  const states = new Int32Array(salts.length + 3)
  states.set(compiled.map(({ state = 0, rest }) => key.mixRest(state, wordOf(rest))))
  key.mixBlocks(states, 0, salts.length)
  return compiled.map(({ prefix }, at) => key.bucketFor(states[at] ?? 0, prefix.length))
}

/** Returns at most four characters as a little-endian word. */
function wordOf(text: string): number {
  return [3, 2, 1, 0].reduce((word, at) => (word << 8) | (text.charCodeAt(at) || 0), 0)
}
