import { hash128Into } from '@ff/core/fingerprint'

/** How many bits of a hash choose the register; the standard error is 1.04 / √2^14, or 0.8 %. */
const INDEX_BITS = 14
const REGISTERS = 2 ** INDEX_BITS

/** How many further bits of a hash are looked at for their leading zeros. */
const RANK_BITS = 32

/** Of the text that is being added. */
const hash = new Int32Array(4)

/**
 * Counts distinct texts in 16 KiB, however many they are, to within a percent or two. It cannot
 * be asked which texts they were. The union of two is counted as if all had been added to one.
 */
export class HyperLogLog {
  readonly #registers: Uint8Array

  constructor(registers: Uint8Array = new Uint8Array(REGISTERS)) {
    this.#registers = registers
  }

  /** The one whose `toText` this is. */
  static parse(text: string): HyperLogLog {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    return new HyperLogLog(bytes.length === REGISTERS ? bytes : withPlaces(bytes))
  }

  /** Answers whether anything changed: false when the text, or one like it, was there already. */
  add(text: string): boolean {
    hash128Into(hash, text)
    const index = (hash[0] ?? 0) >>> (32 - INDEX_BITS)
    const rank = Math.clz32(hash[1] ?? 0) + 1
    if (rank <= (this.#registers[index] ?? 0)) return false
    this.#registers[index] = rank
    return true
  }

  /** Adds everything that was added to the other. */
  merge(other: HyperLogLog): void {
    for (const [index, rank] of other.#registers.entries()) {
      if (rank > (this.#registers[index] ?? 0)) this.#registers[index] = rank
    }
  }

  /** About how many distinct texts were added, by Ertl's estimator, which is unbiased throughout. */
  estimate(): number {
    const counts = new Array<number>(RANK_BITS + 2).fill(0)
    for (const rank of this.#registers) counts[rank] = (counts[rank] ?? 0) + 1
    const share = (rank: number) => (counts[rank] ?? 0) / REGISTERS
    let sum = REGISTERS * tau(1 - share(RANK_BITS + 1))
    for (let rank = RANK_BITS; rank >= 1; rank -= 1) sum = (sum + (counts[rank] ?? 0)) / 2
    sum += REGISTERS * sigma(share(0))
    return REGISTERS ** 2 / (2 * Math.LN2 * sum)
  }

  /** Base64 of the registers, or, while that is shorter, of those that are not zero. */
  toText(): string {
    const places: number[] = []
    for (const [index, rank] of this.#registers.entries()) {
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

/** What the registers that are still zero contribute. */
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

/** What the registers that can grow no more contribute; `share` is that of all the others. */
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
