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

/** The state of a hash after some bytes. */
interface HashState {
  /** The hash of the whole 4-byte blocks. */
  readonly blocks: number
  /** The bytes after these blocks, at most three, as a little-endian word. */
  readonly rest: number
  /** The number of all bytes. */
  readonly length: number
  /** `false` if a character is not ASCII. The other fields then have no meaning. */
  readonly isAscii: boolean
}

/** A text that is prepared for hashing other texts after it. Created by `compilePrefix`. */
export interface HashPrefix {
  readonly text: string
  readonly seed: number
  /** The state after the text. */
  readonly state: HashState
}

/** Prepares a text for `hashAfter`. The seed has 32 bits. */
export function compilePrefix(text: string, seed = 0): HashPrefix {
  return { text, seed, state: addText({ blocks: seed, rest: 0, length: 0, isAscii: true }, text) }
}

/** Prepares a salt for `bucketIn`. */
export function compileSalt(salt: string): HashPrefix {
  return compilePrefix(`${salt}.`)
}

/** Returns the same as `bucketOf`, for a prepared salt. */
export function bucketIn(salt: HashPrefix, key: string): number {
  return bucketFrom(hashAfter(salt, key))
}

/** Returns `floor(hash * BUCKETS / 2^32)` of an unsigned hash, with 32-bit arithmetic only. */
export function bucketFrom(hash: number): number {
  // 3125 is `BUCKETS / 2^5`. It is a literal, because V8 does not inline constants of modules.
  const high = Math.imul(hash >>> 16, 3125)
  const low = Math.imul(hash & 0xffff, 3125)
  return (high + (low >>> 16)) >>> 11
}

/** Returns the unsigned MurmurHash3 x86_32 of a prefix and a text, in UTF-8. */
export function hashAfter({ state, text: prefix, seed }: HashPrefix, text: string): number {
  // ASCII text needs no encoding to bytes, which costs far more than the hash.
  const end = addText(state, text)
  if (!end.isAscii) return murmurhash.v3(prefix + text, seed)
  return finalize(end.blocks ^ scramble(end.rest) ^ end.length) >>> 0
}

/**
 * Returns the state after the characters of a text. Each block consists of the rest before four
 * characters, and of the first of these characters. Joining the texts instead takes up to twice as
 * long as hashing them. The result is an object also if the text is not ASCII, so that V8
 * need not allocate it.
 */
function addText({ blocks, rest, length, isAscii }: HashState, text: string): HashState {
  const shift = 8 * (length & 3)
  let hash = blocks
  let carry = rest
  let codes = 0
  let at = 0
  for (; at + 4 <= text.length; at += 4) {
    // Each character is read only once, because reading it is the most expensive operation.
    const a = text.charCodeAt(at)
    const b = text.charCodeAt(at + 1)
    const c = text.charCodeAt(at + 2)
    const d = text.charCodeAt(at + 3)
    codes |= a | b | c | d
    const word = a | (b << 8) | (c << 16) | (d << 24)
    hash = mix(hash, scramble(carry | (word << shift)))
    carry = carryOf(word, shift)
  }
  let tail = 0
  for (let index = text.length - 1; index >= at; index -= 1) {
    const code = text.charCodeAt(index)
    codes |= code
    tail = (tail << 8) | code
  }
  const last = carry | (tail << shift)
  const isWhole = shift + 8 * (text.length - at) >= 32
  return {
    blocks: isWhole ? mix(hash, scramble(last)) : hash,
    rest: isWhole ? carryOf(tail, shift) : last,
    length: length + text.length,
    isAscii: isAscii && codes < 0x80,
  }
}

/** Returns the bits that a word loses when it is shifted to the left by 0 to 24 bits. */
function carryOf(word: number, shift: number): number {
  // A shift by 32 bits is a shift by 0 bits.
  return (word >>> 1) >>> (31 - shift)
}

/** Mixes a scrambled block into a state. */
export function mix(state: number, scrambled: number): number {
  const hash = state ^ scrambled
  return (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
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
