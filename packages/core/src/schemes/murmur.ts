import { compilePrefix, finalize, hashAfter, mix, scramble } from '../rollouts/bucket.ts'
import { rotateLeft } from './words.ts'

/** Returns a function that returns the unsigned MurmurHash3 x86_32 of the prefix and a key. */
export type CompileHash = (prefix: string, seed?: number) => (key: string) => number

/** Hashes the UTF-8 bytes of texts, according to the specification of the hash. */
export const utf8Hash: CompileHash = (text, seed) => {
  const prefix = compilePrefix(text, seed)
  return (key) => hashAfter(prefix, key)
}

/** Hashes the low byte of each UTF-16 unit, as the npm package `murmurhash3js` does. */
export const lowByteHash: CompileHash = (prefix, seed) => {
  return (key) => hashOfUnits(prefix + key, 0xff, seed)
}

/** Hashes all bits of the UTF-16 units, as the npm package `imurmurhash` does. */
export const wideUnitHash: CompileHash = (prefix, seed) => {
  return (key) => hashOfUnits(prefix + key, 0xffff, seed)
}

/**
 * Returns the hash of the UTF-16 units of a text, masked with `mask`. Each unit takes one byte of a
 * block. Its other bits change the next byte, which is the first one after the last.
 */
function hashOfUnits(text: string, mask: number, seed = 0): number {
  let hash = seed
  let block = 0
  for (let at = 0; at < text.length; at += 1) {
    block ^= rotateLeft(text.charCodeAt(at) & mask, 8 * (at & 3))
    if ((at & 3) === 3) {
      hash = mix(hash, scramble(block))
      block = 0
    }
  }
  // `imurmurhash` omits an incomplete block with the highest bit set.
  if (block > 0) hash ^= scramble(block)
  return finalize(hash ^ text.length) >>> 0
}
