import murmurhash from 'murmurhash'

/** Buckets are numbered 0…99 999, so one bucket is a thousandth of a percent. */
export const BUCKETS = 100_000

/**
 * The bucket of a key: `floor(murmur3_x86_32(utf8(salt + "." + key), seed 0) * 100000 / 2^32)`.
 * The same on every platform and for ever; it decides who gets what.
 */
export function bucketOf(salt: string, key: string): number {
  return bucketIn(compileSalt(salt), key)
}

/** A salt made ready: the hash over the whole 4-byte blocks of `salt + "."` is already computed. */
export interface CompiledSalt {
  readonly prefix: string
  /** How many characters of the prefix `state` covers; the rest goes before the key. */
  readonly covered: number
  readonly rest: string
  /** undefined: the prefix is not ASCII. */
  readonly state: number | undefined
}

/** Prepares a salt for `bucketIn`. */
export function compileSalt(salt: string): CompiledSalt {
  const prefix = `${salt}.`
  const covered = prefix.length - (prefix.length % 4)
  const state = isAscii(prefix) ? mixBlocks(prefix.slice(0, covered), 0) : undefined
  return { prefix, covered, rest: prefix.slice(covered), state }
}

/** `bucketOf` for a salt that has been prepared already. */
export function bucketIn(salt: CompiledSalt, key: string): number {
  return bucketFrom(hashOf(salt, key))
}

/** `hash * BUCKETS / 2^32`, rounded down, of an unsigned hash, without ever leaving 32 bits. */
function bucketFrom(hash: number): number {
  // What is left of `BUCKETS`, 2^5 apart. Engines do not take a module's constant for one.
  const high = Math.imul(hash >>> 16, 3125)
  const low = Math.imul(hash & 0xffff, 3125)
  return (high + (low >>> 16)) >>> 11
}

function hashOf({ state, rest, covered, prefix }: CompiledSalt, key: string): number {
  const hash = state === undefined ? undefined : hashOfAscii(rest + key, state, covered)
  return hash ?? murmurhash.v3(prefix + key, 0)
}

/** Longer keys are rare, and hashed as they are. */
const MAX_BLOCKS = 64

/** How long salt and dot are with the salts that the service makes: three blocks. */
export const BLOCK_PREFIX = 12

/** A key that many rollouts go by: read once, so that only states of salts are left to be mixed. */
export class BucketingKey {
  readonly #blocks = new Int32Array(MAX_BLOCKS)
  #count = 0
  #tail = 0
  #length = 0
  #isMixed = false

  read(text: string): void {
    this.#length = text.length
    this.#count = Math.min(text.length >> 2, MAX_BLOCKS)
    let codes = 0
    for (let index = 0; index < this.#count; index += 1) {
      // Each character is looked at only once, for that is what costs most.
      const a = text.charCodeAt(4 * index)
      const b = text.charCodeAt(4 * index + 1)
      const c = text.charCodeAt(4 * index + 2)
      const d = text.charCodeAt(4 * index + 3)
      codes |= a | b | c | d
      this.#blocks[index] = scramble(a | (b << 8) | (c << 16) | (d << 24))
    }
    for (let at = 4 * this.#count; at < text.length; at += 1) codes |= text.charCodeAt(at)
    this.#tail = mixTail(text, 0)
    this.#isMixed = codes < 0x80 && text.length <= 4 * MAX_BLOCKS
  }

  /** Whether `bucketAll` can be asked. */
  get isMixed(): boolean {
    return this.#isMixed
  }

  /** Turns the first `count` states of salts with `BLOCK_PREFIX` into buckets of the key. */
  bucketAll(states: Int32Array, count: number): void {
    const blocks = this.#blocks
    const length = this.#count
    // Each step of a hash waits for the one before, but those of four can go on side by side.
    for (let at = 0; at < count; at += 4) {
      let a = states[at] ?? 0
      let b = states[at + 1] ?? 0
      let c = states[at + 2] ?? 0
      let d = states[at + 3] ?? 0
      for (let index = 0; index < length; index += 1) {
        const block = blocks[index] ?? 0
        // `mix`, written out: each call would be checked again in each step.
        a ^= block
        b ^= block
        c ^= block
        d ^= block
        a = (Math.imul((a << 13) | (a >>> 19), 5) + 0xe6546b64) | 0
        b = (Math.imul((b << 13) | (b >>> 19), 5) + 0xe6546b64) | 0
        c = (Math.imul((c << 13) | (c >>> 19), 5) + 0xe6546b64) | 0
        d = (Math.imul((d << 13) | (d >>> 19), 5) + 0xe6546b64) | 0
      }
      states[at] = a
      states[at + 1] = b
      states[at + 2] = c
      states[at + 3] = d
    }
    const end = this.#tail ^ (BLOCK_PREFIX + this.#length)
    for (let at = 0; at < count; at += 1) {
      states[at] = bucketFrom(finalize((states[at] ?? 0) ^ end))
    }
  }
}

/** MurmurHash3 x86_32 of the text's UTF-8 bytes, unsigned. The seed is any 32-bit number. */
export function murmur3(text: string, seed: number): number {
  // Encoding to bytes costs many times the hashing itself, and ASCII needs none.
  const hash = hashOfAscii(text, seed, 0)
  return hash === undefined ? murmurhash.v3(text, seed) : hash >>> 0
}

/** The hash of text after `before` other bytes, which led to `state`; undefined: it is not ASCII. */
function hashOfAscii(text: string, state: number, before: number): number | undefined {
  let hash = state
  let codes = 0
  let at = 0
  for (; at + 4 <= text.length; at += 4) {
    // Each character is looked at only once, for that is what costs most.
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

/** Takes in the whole 4-byte blocks of ASCII text, going on from `state`. */
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

/** The up to three characters that fill no block. */
function mixTail(text: string, state: number): number {
  const start = text.length - (text.length % 4)
  let tail = 0
  for (let index = text.length - 1; index >= start; index -= 1) {
    tail = (tail << 8) | text.charCodeAt(index)
  }
  return start === text.length ? state : state ^ scramble(tail)
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

function finalize(state: number): number {
  let hash = state
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
