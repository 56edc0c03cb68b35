import fc from 'fast-check'
import murmurhash from 'murmurhash'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { BUCKETS, bucketOf, compilePrefix, hashAfter } from './bucket.ts'

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
)
const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 300 })
const almostAscii = fc.tuple(ascii, fc.constantFrom('é', 'Ā', '😀'), ascii)
const anyKey = fc.oneof(
  anyText,
  ascii,
  almostAscii.map((parts) => parts.join('')),
)
const anySeed = fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 })

describe('bucketOf', () => {
  it('bucketOf agrees with the reference implementation for any salt and key', () => {
    fc.assert(
      fc.property(anyText, anyKey, (salt, key) => {
        const hash = murmurhash.v3(new TextEncoder().encode(`${salt}.${key}`), 0)
        expect(bucketOf(salt, key)).toBe(Math.floor((hash * BUCKETS) / 2 ** 32))
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('bucketOf distributes the keys of 4,000 users evenly for any salt', () => {
    const salts = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 16 })
    fc.assert(
      fc.property(salts, (salt) => {
        const parts = new Array<number>(20).fill(0)
        for (let user = 0; user < 4_000; user += 1) {
          const part = Math.floor(bucketOf(salt, `user-${user}`) / (BUCKETS / 20))
          parts[part] = (parts[part] ?? 0) + 1
        }
        // Chi-square with 19 degrees of freedom exceeds 60 with a probability of 4e-6.
        const chiSquare = parts.reduce((sum, count) => sum + (count - 200) ** 2 / 200, 0)
        expect(chiSquare).toBeLessThan(60)
      }),
      { numRuns: runs(50) },
    )
  })

  it('The buckets of the same keys are independent for different salts', () => {
    const salts = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 16 })
    const pairs = fc.uniqueArray(salts, { minLength: 2, maxLength: 2 })
    fc.assert(
      fc.property(pairs, ([one = '', other = '']) => {
        const together = new Array<number>(25).fill(0)
        for (let user = 0; user < 5_000; user += 1) {
          const partOf = (salt: string) =>
            Math.floor(bucketOf(salt, `user-${user}`) / (BUCKETS / 5))
          const cell = partOf(one) * 5 + partOf(other)
          together[cell] = (together[cell] ?? 0) + 1
        }
        const sums = (groupOf: (cell: number) => number) =>
          together.reduce<number[]>((all, count, cell) => {
            all[groupOf(cell)] = (all[groupOf(cell)] ?? 0) + count
            return all
          }, [])
        const [ones, others] = [sums((cell) => Math.floor(cell / 5)), sums((cell) => cell % 5)]
        const chiSquare = together.reduce((sum, count, cell) => {
          const expected = ((ones[Math.floor(cell / 5)] ?? 0) * (others[cell % 5] ?? 0)) / 5_000
          return sum + (count - expected) ** 2 / expected
        }, 0)
        // Chi-square with 16 degrees of freedom exceeds 65 with a probability below 1e-7.
        expect(chiSquare).toBeLessThan(65)
      }),
      { numRuns: runs(50) },
    )
  })

  it('Two halves with different salts have a quarter of the keys in common', () => {
    let both = 0
    for (let user = 0; user < 100_000; user += 1) {
      const isInHalf = (salt: string) => bucketOf(salt, `user-${user}`) < BUCKETS / 2
      if (isInHalf('aB3dE5gH7jK') && isInHalf('Zz9Yy8Xx7Ww')) both += 1
    }
    expect(both / 100_000).toBeGreaterThan(0.245)
    expect(both / 100_000).toBeLessThan(0.255)
  })
})

describe('hashAfter', () => {
  it('hashAfter agrees with the reference implementation for any prefix, text and seed', () => {
    fc.assert(
      fc.property(anyText, anyText, anySeed, (prefix, text, seed) => {
        const bytes = new TextEncoder().encode(prefix + text)
        expect(hashAfter(compilePrefix(prefix, seed), text)).toBe(murmurhash.v3(bytes, seed))
      }),
      { numRuns: runs(2_000) },
    )
  })
})
