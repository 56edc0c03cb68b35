import { hash128Into } from '@ff/core/fingerprint'

/**
 * The number of hash bits that select the register. The standard error is 1.04 / √2^14, or 0.8 %.
 */
const INDEX_BITS = 14
const REGISTERS = 2 ** INDEX_BITS

/** The number of further hash bits that are searched for leading zeros. */
const RANK_BITS = 32

/** The number of bits of a rank in a place, and the mask of these bits. */
const RANK_SIZE = 6
const RANK_MASK = 2 ** RANK_SIZE - 1

/** The hash of the text that is being added. */
const hash = new Int32Array(4)

/** Returns the place of a text in all sketches, for adding it to several sketches. */
export function placeOf(text: string): number {
  hash128Into(hash, text)
  const index = (hash[0] ?? 0) >>> (32 - INDEX_BITS)
  const rank = Math.clz32(hash[1] ?? 0) + 1
  return (index << RANK_SIZE) | rank
}

/**
 * A HyperLogLog sketch: estimates the number of distinct texts with an error of one or two percent,
 * in 16 KiB of memory. The texts themselves cannot be recovered. The union of two sketches is
 * counted as if all texts had been added to one.
 */
export class HyperLogLog {
  readonly #registers: Uint8Array

  constructor(registers: Uint8Array = new Uint8Array(REGISTERS)) {
    this.#registers = registers
  }

  /** Parses the result of `toText`. */
  static parse(text: string): HyperLogLog {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return new HyperLogLog(bytes.length === REGISTERS ? bytes : withPlaces(bytes))
  }

  /**
   * Adds a text. Returns `false` if the sketch has not changed, because the text, or one with a
   * similar hash, was added before.
   */
  add(text: string): boolean {
    return this.addPlace(placeOf(text))
  }

  /** Returns `true` if adding the text with this place would change nothing. */
  hasPlace(place: number): boolean {
    return (place & RANK_MASK) <= (this.#registers[place >>> RANK_SIZE] ?? 0)
  }

  /** Adds the text with this place, as `add` does. */
  addPlace(place: number): boolean {
    const index = place >>> RANK_SIZE
    const rank = place & RANK_MASK
    if (rank <= (this.#registers[index] ?? 0)) return false
    this.#registers[index] = rank
    return true
  }

  /** Adds all texts that were added to another sketch. */
  merge(other: HyperLogLog): void {
    for (let index = 0; index < REGISTERS; index += 1) {
      const rank = other.#registers[index] ?? 0
      if (rank > (this.#registers[index] ?? 0)) this.#registers[index] = rank
    }
  }

  /**
   * Returns the approximate number of distinct texts, by Ertl's improved estimator, which is
   * unbiased over the whole range.
   */
  estimate(): number {
    const counts = new Array<number>(RANK_BITS + 2).fill(0)
    for (const rank of this.#registers) counts[rank] = (counts[rank] ?? 0) + 1
    const share = (rank: number) => (counts[rank] ?? 0) / REGISTERS
    let sum = REGISTERS * tau(1 - share(RANK_BITS + 1))
    for (let rank = RANK_BITS; rank >= 1; rank -= 1) sum = (sum + (counts[rank] ?? 0)) / 2
    sum += REGISTERS * sigma(share(0))
    return REGISTERS ** 2 / (2 * Math.LN2 * sum)
  }

  /**
   * Returns the registers in Base64. If that is shorter, returns only the positions and values of
   * the registers that are not zero.
   */
  toText(): string {
    const places: number[] = []
    // A loop without an iterator, which would create an array for each register.
    for (let index = 0; index < REGISTERS; index += 1) {
      const rank = this.#registers[index] ?? 0
      if (rank > 0) places.push(index >>> 8, index & 0xff, rank)
      if (places.length >= REGISTERS) return base64(this.#registers)
    }
    return base64(Uint8Array.from(places))
  }
}

function withPlaces(places: Uint8Array): Uint8Array {
  const registers = new Uint8Array(REGISTERS)
  for (let at = 0; at + 2 < places.length; at += 3) {
    registers[((places[at] ?? 0) << 8) | (places[at + 1] ?? 0)] = places[at + 2] ?? 0
  }
  return registers
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

/**
 * Returns the contribution of the registers that are zero; `share` is their share of all registers.
 */
function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY
  let sum = share
  let power = share
  for (let weight = 1, before = -1; sum !== before; weight *= 2) {
    before = sum
    power *= power
    sum += power * weight
  }
  return sum
}

/**
 * Returns the contribution of the registers that have their maximum value; `share` is the share of
 * all other registers.
 */
function tau(share: number): number {
  if (share === 0 || share === 1) return 0
  let sum = 1 - share
  let root = share
  for (let weight = 0.5, before = -1; sum !== before; weight /= 2) {
    before = sum
    root = Math.sqrt(root)
    sum -= (1 - root) ** 2 * weight
  }
  return sum / 3
}
