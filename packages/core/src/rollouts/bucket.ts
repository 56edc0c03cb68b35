import murmurhash from 'murmurhash'

/** The number of buckets. They are numbered 0…99,999, so that one bucket is 0.001 %. */
export const BUCKETS = 100_000

/**
 * Returns the bucket of a key:
 * `floor(murmur3_x86_32(utf8(salt + "." + key), seed 0) * 100000 / 2^32)`, an integer in 0…99,999.
 * The formula is the same on every platform and must not change, because every context would then
 * move to another bucket.
 */
export function bucketOf(salt: string, key: string): number {
  return bucketIn(compileSalt(salt), key)
}

/** A salt with the precomputed hash of the whole 4-byte blocks of `salt + "."`. */
export interface CompiledSalt {
  /** The salt and the following dot. */
  readonly prefix: string
  /** The number of characters of the prefix that `state` includes. */
  readonly covered: number
  /** The other characters of the prefix. They are hashed together with the key. */
  readonly rest: string
  /** The state of the hash. `undefined` if the prefix is not ASCII. */
  readonly state: number | undefined
}

/** Prepares a salt for `bucketIn`. */
export function compileSalt(salt: string): CompiledSalt {
  const prefix = `${salt}.`
  const covered = prefix.length - (prefix.length % 4)
  const state = isAscii(prefix) ? mixBlocks(prefix.slice(0, covered), 0) : undefined
  return { prefix, covered, rest: prefix.slice(covered), state }
}

/** Returns the same as `bucketOf`, for a prepared salt. */
export function bucketIn(salt: CompiledSalt, key: string): number {
  return bucketFrom(hashOf(salt, key))
}

/** Returns `floor(hash * BUCKETS / 2^32)` of an unsigned hash, with 32-bit arithmetic only. */
export function bucketFrom(hash: number): number {
  // 3125 is `BUCKETS / 2^5`. It is a literal, because V8 does not inline constants of modules.
  const high = Math.imul(hash >>> 16, 3125)
  const low = Math.imul(hash & 0xffff, 3125)
  return (high + (low >>> 16)) >>> 11
}

function hashOf({ state, rest, covered, prefix }: CompiledSalt, key: string): number {
  const hash = state === undefined ? undefined : hashOfAscii(rest + key, state, covered)
  return hash ?? murmurhash.v3(prefix + key, 0)
}

/** Returns the unsigned MurmurHash3 x86_32 of a text in UTF-8. The seed has 32 bits. */
export function murmur3(text: string, seed: number): number {
  // ASCII text needs no encoding to bytes, which costs far more than the hash.
  const hash = hashOfAscii(text, seed, 0)
  return hash === undefined ? murmurhash.v3(text, seed) : hash >>> 0
}

/**
 * Returns the hash of a text that follows `before` bytes with the hash state `state`. `undefined`
 * if the text is not ASCII.
 */
function hashOfAscii(text: string, state: number, before: number): number | undefined {
  let hash = state
  let codes = 0
  let at = 0
  for (; at + 4 <= text.length; at += 4) {
    // Each character is read only once, because reading it is the most expensive operation.
    const a = text.charCodeAt(at)
    const b = text.charCodeAt(at + 1)
    const c = text.charCodeAt(at + 2)
    const d = text.charCodeAt(at + 3)
    codes |= a | b | c | d
    hash = mix(hash, scramble(a | (b << 8) | (c << 16) | (d << 24)))
  }
  for (; at < text.length; at += 1) codes |= text.charCodeAt(at)
  return codes < 0x80 ? finalize(mixTail(text, hash) ^ (before + text.length)) : undefined
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) > 0x7f) return false
  }
  return true
}

/** Mixes the whole 4-byte blocks of an ASCII text into a state. */
function mixBlocks(text: string, state: number): number {
  let hash = state
  for (let index = 0; index + 4 <= text.length; index += 4) {
    hash = mix(hash, scramble(blockAt(text, index)))
  }
  return hash
}

function blockAt(text: string, index: number): number {
  return (
    text.charCodeAt(index) |
    (text.charCodeAt(index + 1) << 8) |
    (text.charCodeAt(index + 2) << 16) |
    (text.charCodeAt(index + 3) << 24)
  )
}

function mix(state: number, scrambled: number): number {
  const hash = state ^ scrambled
  return (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
}

/** Mixes the characters after the last whole block, at most three, into a state. */
export function mixTail(text: string, state: number): number {
  const start = text.length - (text.length % 4)
  let tail = 0
  for (let index = text.length - 1; index >= start; index -= 1) {
    tail = (tail << 8) | text.charCodeAt(index)
  }
  return start === text.length ? state : state ^ scramble(tail)
}

/** Scrambles a block of four bytes before it is mixed into a state. */
export function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

/** Returns the hash of a final state, as a signed number. */
export function finalize(state: number): number {
  let hash = state
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
