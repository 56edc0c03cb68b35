import { describe, expect, it } from 'vitest'
import { addTo, clear, endOf, has, intersects, lowestBit, packed, subtract } from './bit-set.ts'

function pairsOf(...numbers: readonly number[]): number[] {
  const pairs: number[] = []
  for (const number of numbers) addTo(pairs, number)
  return pairs
}

/** Returns a set of `words` words with these numbers. */
function setOf(words: number, ...numbers: readonly number[]): Int32Array {
  const set = new Int32Array(words)
  for (const number of numbers) set[number >>> 5] = (set[number >>> 5] ?? 0) | (1 << (number & 31))
  return set
}

function numbersIn(words: Int32Array | number[]): number[] {
  const set = Int32Array.from(words)
  return Array.from({ length: 32 * set.length }, (_, number) => number).filter((number) => {
    return has(set, number)
  })
}

describe('addTo', () => {
  it('addTo adds one pair for each word that contains a number', () => {
    expect(pairsOf()).toEqual([])
    expect(pairsOf(0)).toEqual([0, 1])
    expect(pairsOf(1, 3)).toEqual([0, 0b1010])
    expect(pairsOf(5, 5)).toEqual([0, 1 << 5])
    expect(pairsOf(31, 32, 33, 64)).toEqual([0, 1 << 31, 1, 0b11, 2, 1])
  })

  it('addTo adds a pair if the bits of another word equal the index of the word', () => {
    // The bits of the word 0 are 2, and 64 is in the word 2.
    expect(pairsOf(1, 64)).toEqual([0, 2, 2, 1])
  })
})

describe('Sparse sets', () => {
  const sparse = packed([pairsOf(1, 40), pairsOf(), pairsOf(2, 3, 70, 71)])

  it('packed writes the number of pairs before the pairs of each set', () => {
    expect([...sparse]).toEqual([2, 0, 2, 1, 1 << 8, 0, 2, 0, 0b1100, 2, 0b11 << 6])
  })

  it('endOf returns the start of the next sparse set', () => {
    expect([0, 5, 6].map((at) => endOf(sparse, at))).toEqual([5, 6, 11])
  })

  it('intersects returns true if and only if both sets contain the same number', () => {
    const inFirst = [1, 40]
    const inThird = [2, 3, 70, 71]
    for (let number = 0; number < 96; number += 1) {
      const set = setOf(3, number)
      expect(intersects(set, sparse, 0)).toBe(inFirst.includes(number))
      expect(intersects(set, sparse, 5)).toBe(false)
      expect(intersects(set, sparse, 6)).toBe(inThird.includes(number))
    }
  })

  it('subtract removes only the numbers of one sparse set', () => {
    const all = [0, 1, 2, 3, 39, 40, 70, 71, 72]
    const without = (at: number) => {
      const set = setOf(3, ...all)
      subtract(set, sparse, at)
      return numbersIn(set)
    }
    expect(without(0)).toEqual([0, 2, 3, 39, 70, 71, 72])
    expect(without(5)).toEqual(all)
    expect(without(6)).toEqual([0, 1, 39, 40, 72])
  })
})

describe('Full sets', () => {
  it.each([
    [3, 3],
    [0, 1],
    [5, 7],
    [30, 34],
    [31, 65],
    [0, 96],
  ])('clear removes the numbers from %d up to but not including %d', (start, end) => {
    const words = [-1, -1, -1]
    clear(words, start, end)
    const kept = Array.from({ length: 96 }, (_, number) => number).filter((number) => {
      return number < start || number >= end
    })
    expect(numbersIn(words)).toEqual(kept)
  })

  it('clear keeps numbers absent that were absent', () => {
    const words = setOf(2, 1, 33)
    clear(words, 2, 32)
    expect(numbersIn(words)).toEqual([1, 33])
  })

  it('has returns true only for the numbers in the set', () => {
    const set = setOf(2, 0, 31, 33)
    expect([0, 1, 30, 31, 32, 33, 63].map((number) => has(set, number))).toEqual([
      ...[true, false, false, true, false, true, false],
    ])
  })

  it('lowestBit returns the index of the lowest of the bits', () => {
    for (let bit = 0; bit < 32; bit += 1) {
      expect(lowestBit(1 << bit)).toBe(bit)
      expect(lowestBit((1 << bit) | (1 << 31))).toBe(bit)
      expect(lowestBit(-1 << bit)).toBe(bit)
    }
  })
})
