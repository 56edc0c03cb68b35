// A bit set contains small integers in 32-bit words: the integer `n` is bit `n & 31` of the word
// with the index `n >>> 5`.

/**
 * One or more sparse bit sets. A sparse set contains only the words that are not 0: the number of
 * these words, followed by two numbers for each word, its index and its bits.
 */
export type SparseBits = Int32Array

/**
 * Adds a number to the pairs of a sparse set. The number must not be less than those in the set.
 */
export function addTo(pairs: number[], number: number): void {
  const word = number >>> 5
  const bits = pairs.at(-2) === word ? pairs.pop() : undefined
  if (bits === undefined) pairs.push(word)
  pairs.push((bits ?? 0) | (1 << (number & 31)))
}

/** Concatenates sparse sets. Each set is passed as its pairs, without the number of pairs. */
export function packed(sets: readonly (readonly number[])[]): SparseBits {
  return Int32Array.from(sets.flatMap((pairs) => [pairs.length / 2, ...pairs]))
}

/** Returns the index after the last element of the sparse set that starts at `at`. */
export function endOf(sparse: SparseBits, at: number): number {
  return at + 1 + 2 * (sparse[at] ?? 0)
}

/** Returns `true` if a set and the sparse set that starts at `at` have a number in common. */
export function intersects(words: Int32Array, sparse: SparseBits, at: number): boolean {
  const end = endOf(sparse, at)
  for (let pair = at + 1; pair < end; pair += 2) {
    if (((words[sparse[pair] ?? 0] ?? 0) & (sparse[pair + 1] ?? 0)) !== 0) return true
  }
  return false
}

/** Removes the numbers of the sparse set that starts at `at` from the set `words`. */
export function subtract(words: Int32Array, sparse: SparseBits, at: number): void {
  const end = endOf(sparse, at)
  for (let pair = at + 1; pair < end; pair += 2) {
    const word = sparse[pair] ?? 0
    words[word] = (words[word] ?? 0) & ~(sparse[pair + 1] ?? 0)
  }
}

/** Removes the numbers from `start` (inclusive) to `end` (exclusive) from a set. */
export function clear(words: Int32Array | number[], start: number, end: number): void {
  for (let number = start; number < end; number += 1) {
    words[number >>> 5] = (words[number >>> 5] ?? 0) & ~(1 << (number & 31))
  }
}

/** Returns `true` if a set contains a number. */
export function has(words: Int32Array, number: number): boolean {
  return (((words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1
}

/** Returns the index of the lowest bit of a word, 0…31. The word must not be 0. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word)
}

/** The bit sets of a condition index. The *place* of a set is its offset in `bits`. */
export interface IndexBits {
  /** The size of a set of all rule rows, in 32-bit words. */
  readonly words: number
  /** All sets, followed by room for one set. */
  readonly bits: Int32Array
  /** The place of the room. */
  readonly room: number
}

/** Copies a set to the room, and returns its place there. */
export function copy(from: number, { words, bits, room }: IndexBits): number {
  bits.copyWithin(room, from, from + words)
  return room
}

/** Appends numbers and returns their offset. */
export function append(bits: number[], numbers: readonly number[]): number {
  const place = bits.length
  // Not one `push` of all numbers, because the number of arguments is limited.
  for (const number of numbers) bits.push(number)
  return place
}
