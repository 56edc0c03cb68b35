/**
 * A set of small numbers in 32-bit words: number `n` is bit `n & 31` of word `n >>> 5`. A sparse
 * set names only the words that are not empty: how many they are, and pairs of a word and its bits.
 */
export type SparseBits = Int32Array

/** Adds a number to pairs of words and bits; it must not be smaller than those in them already. */
export function addTo(pairs: number[], number: number): void {
  const word = number >>> 5
  const known = pairs.at(-2) === word ? pairs.pop() : undefined
  if (known === undefined) pairs.push(word)
  pairs.push((known ?? 0) | (1 << (number & 31)))
}

/** Puts sparse sets one behind the other. */
export function packed(sets: readonly (readonly number[])[]): SparseBits {
  return Int32Array.from(sets.flatMap((pairs) => [pairs.length / 2, ...pairs]))
}

/** Where the sparse set ends that begins at `at`. */
export function endOf(sparse: SparseBits, at: number): number {
  return at + 1 + 2 * (sparse[at] ?? 0)
}

/** Whether a set and the sparse set that begins at `at` have a number in common. */
export function intersects(words: Int32Array, sparse: SparseBits, at: number): boolean {
  const end = endOf(sparse, at)
  for (let pair = at + 1; pair < end; pair += 2) {
    if (((words[sparse[pair] ?? 0] ?? 0) & (sparse[pair + 1] ?? 0)) !== 0) return true
  }
  return false
}

/** Takes the numbers of the sparse set that begins at `at` out of the other set. */
export function subtract(words: Int32Array, sparse: SparseBits, at: number): void {
  const end = endOf(sparse, at)
  for (let pair = at + 1; pair < end; pair += 2) {
    const word = sparse[pair] ?? 0
    words[word] = (words[word] ?? 0) & ~(sparse[pair + 1] ?? 0)
  }
}

/** Takes the numbers from `start` to before `end` out of a set. */
export function clear(words: Int32Array | number[], start: number, end: number): void {
  for (let number = start; number < end; number += 1) {
    words[number >>> 5] = (words[number >>> 5] ?? 0) & ~(1 << (number & 31))
  }
}

/** Whether a number is in a set. */
export function has(words: Int32Array, number: number): boolean {
  return (((words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1
}

/** The lowest number in a word that is not empty, 0…31. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word)
}
