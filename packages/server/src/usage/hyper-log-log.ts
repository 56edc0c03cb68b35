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
 * The maximum number of registers that are stored one by one. A sketch with few texts then needs a
 * few KiB of memory at most.
 */
const MOST_SPARSE = 128

/**
 * A HyperLogLog sketch: estimates the number of distinct texts with an error of one or two percent,
 * in 16 KiB of memory. The texts themselves cannot be recovered. The union of two sketches is
 * counted as if all texts had been added to one.
 */
export class HyperLogLog {
  /** The registers that are not zero, until there are more than `MOST_SPARSE` of them. */
  readonly #sparse = new Map<number, number>()
  /** All registers, from then on. */
  #dense: Uint8Array | undefined

  /** Parses the result of `toText`. */
  static parse(text: string): HyperLogLog {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    const sketch = new HyperLogLog()
    if (bytes.length === REGISTERS) sketch.#dense = bytes
    else sketch.#addPlaces(bytes)
    return sketch
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
    return (place & RANK_MASK) <= this.#rankAt(place >>> RANK_SIZE)
  }

  /** Adds the text with this place, as `add` does. */
  addPlace(place: number): boolean {
    return this.#raise(place >>> RANK_SIZE, place & RANK_MASK)
  }

  /** Adds all texts that were added to another sketch. */
  merge(other: HyperLogLog): void {
    other.#forEach((rank, index) => this.#raise(index, rank))
  }

  /**
   * Returns the approximate number of distinct texts, by Ertl's improved estimator, which is
   * unbiased over the whole range.
   */
  estimate(): number {
    const counts = new Array<number>(RANK_BITS + 2).fill(0)
    let zeros = REGISTERS
    this.#forEach((rank) => {
      counts[rank] = (counts[rank] ?? 0) + 1
      zeros -= 1
    })
    counts[0] = zeros
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
    this.#forEach((rank, index) => {
      if (places.length < REGISTERS) places.push(index >>> 8, index & 0xff, rank)
    })
    const dense = places.length < REGISTERS ? undefined : this.#dense
    return base64(dense ?? Uint8Array.from(places))
  }

  #rankAt(index: number): number {
    return this.#dense === undefined ? (this.#sparse.get(index) ?? 0) : (this.#dense[index] ?? 0)
  }

  /** Returns `false` if the register has this rank or a greater one already. */
  #raise(index: number, rank: number): boolean {
    if (rank <= this.#rankAt(index)) return false
    if (this.#dense !== undefined) this.#dense[index] = rank
    else {
      this.#sparse.set(index, rank)
      if (this.#sparse.size > MOST_SPARSE) this.#expand()
    }
    return true
  }

  #expand(): void {
    const dense = new Uint8Array(REGISTERS)
    for (const [index, rank] of this.#sparse) dense[index] = rank
    this.#dense = dense
    this.#sparse.clear()
  }

  #addPlaces(places: Uint8Array): void {
    for (let at = 0; at + 2 < places.length; at += 3) {
      this.#raise(((places[at] ?? 0) << 8) | (places[at + 1] ?? 0), places[at + 2] ?? 0)
    }
  }

  /** Calls `visit` for each register that is not zero, in ascending order of the indexes. */
  #forEach(visit: (rank: number, index: number) => void): void {
    if (this.#dense === undefined) {
      for (const [index, rank] of [...this.#sparse].sort(([a], [b]) => a - b)) visit(rank, index)
      return
    }
    for (let index = 0; index < REGISTERS; index += 1) {
      const rank = this.#dense[index] ?? 0
      if (rank > 0) visit(rank, index)
    }
  }
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
