import { bucketFrom, finalize, scramble } from '../rollouts/bucket.ts'

/** The maximum length of a key, in characters. Longer keys are rare. */
const MAX_LENGTH = 256

/**
 * A bucketing key that is hashed with many salts. A salt and the dot after it are a *prefix*. The
 * whole 4-byte blocks of a prefix are hashed in advance, and the *rest*, at most three characters,
 * together with the key. The blocks of the key depend only on the length of the rest, so that they
 * are scrambled only once for all prefixes with the same length of the rest.
 */
export class BucketingKey {
  readonly #bytes = new Uint8Array(MAX_LENGTH + 4)
  readonly #blocks = new Int32Array(MAX_LENGTH >> 2)
  #text = ''
  #length = 0
  #isMixed = true
  /** The length of the rest for which the fields below are computed, or -1. */
  #rest = -1
  /** The first characters of the key, which follow the rest in its block. */
  #head = 0
  /** The number of whole blocks after the block of the rest. */
  #count = 0
  /** The scrambled characters after the last whole block. */
  #tail = 0
  /** `true` if the rest and the key are shorter than a block. */
  #isShort = false

  /** Sets the key. */
  read(text: string): void {
    // Most evaluations use one key for many flags.
    if (text === this.#text) return
    const { length } = text
    this.#text = text
    this.#length = length
    this.#isMixed = length <= MAX_LENGTH
    this.#rest = -1
    if (!this.#isMixed) return
    const bytes = this.#bytes
    let codes = 0
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at)
      codes |= code
      bytes[at] = code
    }
    bytes.fill(0, length, length + 4)
    this.#isMixed = codes < 0x80
  }

  /** `true` if the key is ASCII and not too long. */
  get isMixed(): boolean {
    return this.#isMixed
  }

  /**
   * Prepares the key for prefixes with a rest of this length, for the methods below. `isMixed` must
   * be `true`.
   */
  align(rest: number): void {
    if (this.#rest === rest) return
    const bytes = this.#bytes
    const first = 4 - rest
    this.#rest = rest
    this.#head = wordAt(bytes, 0) << (8 * rest)
    this.#isShort = this.#length < first
    this.#count = this.#isShort ? 0 : (this.#length - first) >> 2
    for (let index = 0; index < this.#count; index += 1) {
      this.#blocks[index] = scramble(wordAt(bytes, first + 4 * index))
    }
    // The bytes after the key are 0, and `scramble` maps 0 to 0.
    this.#tail = this.#isShort ? 0 : scramble(wordAt(bytes, first + 4 * this.#count))
  }

  /** Mixes the block of the rest into the hash state of the blocks before it. */
  mixRest(state: number, rest: number): number {
    const hash = state ^ scramble(rest | this.#head)
    return this.#isShort ? hash : (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }

  /**
   * Mixes all whole blocks after the block of the rest into the states from `start` to `end`. Up to
   * three elements after them are changed too.
   */
  mixBlocks(states: Int32Array, start: number, end: number): void {
    const blocks = this.#blocks
    const length = this.#count
    if (length === 0) return
    // Each step of a hash depends on the previous step. The CPU can run four hashes in parallel.
    for (let at = start; at < end; at += 4) {
      let a = states[at] ?? 0
      let b = states[at + 1] ?? 0
      let c = states[at + 2] ?? 0
      let d = states[at + 3] ?? 0
      for (let index = 0; index < length; index += 1) {
        const block = blocks[index] ?? 0
        // The code of `mix`, inlined by hand because calls are slower.
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
  }

  /** Returns the bucket for a state after all blocks, and the length of the prefix. */
  bucketFor(state: number, prefixLength: number): number {
    return bucketFrom(finalize(state ^ this.#tail ^ (prefixLength + this.#length)))
  }
}

/** Returns four bytes as a little-endian word. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  )
}
