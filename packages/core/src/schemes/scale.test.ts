import { describe, expect, it } from 'vitest'
import { bucketBelow, bucketOfPlace, bucketUpTo, hexShare } from './scale.ts'
import { sha1 } from './sha1.ts'

describe('bucketOfPlace', () => {
  it('bucketOfPlace returns a distinct bucket for every place, in ascending order from 0', () => {
    for (const total of [1, 2, 3, 7, 99, 100, 1000, 65_537, 99_999, 100_000]) {
      const buckets = Array.from({ length: total }, (_, place) => bucketOfPlace(place, total))
      expect(buckets[0]).toBe(0)
      expect(buckets.at(-1)).toBeLessThan(100_000)
      expect(buckets.every((bucket, at) => at === 0 || bucket > (buckets[at - 1] ?? 0))).toBe(true)
    }
  })
})

describe('bucketBelow and bucketUpTo', () => {
  it.each([
    [0, 0, 0],
    [0.000001, 0, 0],
    [0.00001, 1, 0],
    [0.25, 25_000, 24_999],
    [0.250001, 25_000, 25_000],
    [0.5, 50_000, 49_999],
    [1, 99_999, 99_999],
  ])(
    'The share %d is in bucket %d if ranges exclude the upper bound, otherwise in bucket %d',
    (share, below, upTo) => {
      expect(bucketBelow(share)).toBe(below)
      expect(bucketUpTo(share)).toBe(upTo)
    },
  )
})

describe('hexShare', () => {
  it('hexShare returns the published shares of PostHog to the last digit', () => {
    expect(hexShare(sha1('simple-flag.distinct_id_0'))).toBe(0.78369637642204315)
    expect(hexShare(sha1('simple-flag.distinct_id_1'))).toBe(0.33970699269954008)
    expect(hexShare(sha1('simple-flag.distinct_id_2'))).toBe(0.37204343502390519)
  })

  it('hexShare returns 0 for the smallest hash and 1 for the largest', () => {
    expect(hexShare('0'.repeat(40))).toBe(0)
    expect(hexShare('f'.repeat(40))).toBe(1)
  })
})
