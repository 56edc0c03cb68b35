import { bucketFrom, finalize, mixTail, scramble } from '../rollouts/bucket.ts'

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
