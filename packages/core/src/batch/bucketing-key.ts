import { bucketFrom, finalize, mixTail, scramble } from '../rollouts/bucket.ts'

/** The maximum length of a key, in blocks of four characters. Longer keys are rare. */
const MAX_BLOCKS = 64

/**
 * The length of a generated salt and the dot after it, in characters. It is a multiple of the block
 * size.
 */
export const BLOCK_PREFIX = 12

/** A bucketing key that is hashed with many salts. Its blocks are scrambled only once. */
export class BucketingKey {
  readonly #blocks = new Int32Array(MAX_BLOCKS)
  #count = 0
  #tail = 0
  #length = 0
  #isMixed = false

  /** Sets the key and scrambles its blocks. */
  read(text: string): void {
    this.#length = text.length
    this.#count = Math.min(text.length >> 2, MAX_BLOCKS)
    let codes = 0
    for (let index = 0; index < this.#count; index += 1) {
      // Each character is read only once, because reading it is the most expensive operation.
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

  /** `true` if `bucketAll` can be called: the key is ASCII and not too long. */
  get isMixed(): boolean {
    return this.#isMixed
  }

  /**
   * Replaces the first `count` elements of `states`, the hash states of salts, by the buckets of
   * the key for these salts. The prefix of each salt must have the length `BLOCK_PREFIX`. The
   * length of `states` must be at least `count` rounded up to a multiple of four.
   */
  bucketAll(states: Int32Array, count: number): void {
    const blocks = this.#blocks
    const length = this.#count
    // Each step of a hash depends on the previous step. The CPU can run four hashes in parallel.
    for (let at = 0; at < count; at += 4) {
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
    const end = this.#tail ^ (BLOCK_PREFIX + this.#length)
    for (let at = 0; at < count; at += 1) {
      states[at] = bucketFrom(finalize((states[at] ?? 0) ^ end))
    }
  }
}
