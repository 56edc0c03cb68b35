import { createHash } from 'node:crypto'
import fc from 'fast-check'
import murmurhash from 'murmurhash'
import { describe, expect, it } from 'vitest'
import type { BucketingSettings } from './model/extensions.ts'
import { BUCKETS } from './rollouts/bucket.ts'
import { rangesOf } from './rollouts/rollout.ts'
import { schemes } from './schemes.ts'

/** Returns the bucket of a key in a scheme. */
function bucketOf(scheme: string, key: string, settings: Partial<BucketingSettings>): number {
  const compile = schemes.get(scheme)
  if (compile === undefined) throw new TypeError(`There is no scheme "${scheme}"`)
  return compile({ salt: '', strategy: 'percentage', ...settings })(key)
}

const hex = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')
const share15 = (text: string) =>
  Number(BigInt(`0x${hex('sha1', text).slice(0, 15)}`)) / Number(0xfffffffffffffffn)

const anyKey = fc.oneof(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 }))
const anyPercent = fc.nat({ max: 100 })

/**
 * Checks for any key, salt and percentage that a scheme includes the key if `isIn` returns `true`.
 */
function agreesOnPercentages(
  scheme: string,
  isIn: (salt: string, key: string, percent: number) => boolean,
): void {
  fc.assert(
    fc.property(anyKey, fc.string(), anyPercent, (key, salt, percent) => {
      const bucket = bucketOf(scheme, key, { salt })
      expect(bucket < percent * 1000).toBe(isIn(salt, key, percent))
    }),
    { numRuns: 1000 },
  )
}

interface Deal {
  readonly key: string
  readonly salt: string
  readonly weights: readonly number[]
}

/**
 * Checks for any key, salt and weights that a scheme selects the variation that `indexOf` returns.
 */
function agreesOnWeights(
  scheme: string,
  indexOf: (deal: Deal) => number,
  { maxTotal = 100, total }: { readonly maxTotal?: number; readonly total?: number } = {},
): void {
  const anyWeights = fc
    .array(fc.nat({ max: total ?? maxTotal }), { minLength: 1, maxLength: 5 })
    .map((cuts) => (total === undefined ? cuts : [...weightsBetween(cuts, total)]))
    .filter((weights) => weights.some((weight) => weight > 0))
  fc.assert(
    fc.property(anyKey, fc.string(), anyWeights, (key, salt, weights) => {
      const totalWeight = weights.reduce((sum, weight) => sum + weight, 0)
      const ends = cumulative(weights).map((end) => Math.round((end * BUCKETS) / totalWeight))
      const ranges = ends.map((to, index) => ({ from: ends[index - 1] ?? 0, to }))
      const bucket = bucketOf(scheme, key, { salt, strategy: 'variant', ranges, totalWeight })
      const index = ranges.findIndex(({ from, to }) => from <= bucket && bucket < to)
      expect(index).toBe(indexOf({ key, salt, weights }))
    }),
    { numRuns: 1000 },
  )
}

function* weightsBetween(cuts: readonly number[], total: number): Iterable<number> {
  let last = 0
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield cut - last
    last = cut
  }
  yield total - last
}

function cumulative(weights: readonly number[]): number[] {
  let end = 0
  return weights.map((weight) => {
    end += weight
    return end
  })
}

describe('unleash', () => {
  it.each([
    ['gr1', '123', 73, 96],
    ['groupX', '999', 25, 60],
  ])('The scheme unleash has the published hashes of %s:%s', (salt, key, percentage, variant) => {
    expect(bucketOf('unleash', key, { salt })).toBe((percentage - 1) * 1000)
    const settings = { salt, strategy: 'variant', totalWeight: 100 } as const
    expect(bucketOf('unleash', key, settings)).toBe((variant - 1) * 1000)
  })

  it('The scheme unleash includes the same keys as the formula of Unleash', () => {
    agreesOnPercentages('unleash', (salt, key, percent) => {
      return (murmurhash.v3(`${salt}:${key}`, 0) % 100) + 1 <= percent
    })
  })

  it('The scheme unleash selects the first variant with a cumulative weight that reaches the hash', () => {
    const indexOf = ({ key, salt, weights }: Deal) => {
      const ends = cumulative(weights)
      const value = (murmurhash.v3(`${salt}:${key}`, 86028157) % (ends.at(-1) ?? 1)) + 1
      return ends.findIndex((end) => end >= value)
    }
    agreesOnWeights('unleash', indexOf)
    agreesOnWeights('unleash', indexOf, { maxTotal: 20_000 })
  })

  it('The scheme unleash uses a total weight of 1000 by default', () => {
    const settings = { salt: 'gr1', strategy: 'variant' } as const
    expect(bucketOf('unleash', '123', settings)).toBe(
      bucketOf('unleash', '123', { ...settings, totalWeight: 1000 }),
    )
  })
})

describe('launchdarkly', () => {
  it.each([
    ['hashKey.saltyA', 'userKeyA', 0.42157587],
    ['hashKey.saltyA', 'userKeyB', 0.6708485],
    ['hashKey.saltyA', 'userKeyC', 0.10343106],
    ['61', 'userKeyA', 0.09801207],
    ['61', 'userKeyB', 0.14483777],
    ['61', 'userKeyC', 0.9242641],
  ])('The scheme launchdarkly has the published share of %s.%s', (salt, key, share) => {
    expect(bucketOf('launchdarkly', key, { salt })).toBe(Math.floor(share * BUCKETS))
  })

  it('The scheme launchdarkly includes the same keys as the formula of LaunchDarkly', () => {
    agreesOnPercentages('launchdarkly', (salt, key, percent) => {
      return share15(`${salt}.${key}`) < (percent * 1000) / 100_000
    })
  })

  it('The scheme launchdarkly assigns the buckets after the last range to the last variation', () => {
    const ranges = [
      { from: 0, to: 20_000 },
      { from: 20_000, to: 50_000 },
    ]
    const settings = { salt: 'hashKey.saltyA', strategy: 'variant', ranges } as const
    expect(bucketOf('launchdarkly', 'userKeyA', settings)).toBe(42_157)
    expect(bucketOf('launchdarkly', 'userKeyB', settings)).toBe(49_999)
    const three = { ...settings, ranges: [...ranges, { from: 50_000, to: 60_000 }] }
    expect(bucketOf('launchdarkly', 'userKeyB', three)).toBe(59_999)
    expect(bucketOf('launchdarkly', 'userKeyB', { ...settings, ranges: [] })).toBe(67_084)
  })

  it('The scheme launchdarkly keeps the buckets after the range of a percentage', () => {
    const settings = { salt: 'hashKey.saltyA', ranges: [{ from: 0, to: 20_000 }] }
    expect(bucketOf('launchdarkly', 'userKeyB', settings)).toBe(67_084)
  })
})

describe('growthbook', () => {
  it.each([
    ['growthbook-1', 1000, (salt: string, key: string) => fnv(key + salt)],
    ['growthbook-2', 10_000, (salt: string, key: string) => fnv(String(fnv(salt + key)))],
  ])(
    'The scheme %s includes the same keys as the formula of GrowthBook',
    (scheme, places, hash) => {
      agreesOnPercentages(scheme, (salt, key, percent) => {
        return (hash(salt, key) % places) / places < percent / 100
      })
    },
  )
})

/** A second implementation of FNV-1a, for comparison. */
function fnv(text: string): number {
  let hash = 0x811c9dc5n
  for (let at = 0; at < text.length; at += 1) {
    hash = ((hash ^ BigInt(text.charCodeAt(at))) * 0x01000193n) & 0xffffffffn
  }
  return Number(hash)
}

describe('flagd', () => {
  it('The scheme flagd selects a variant by the high bits of the hash times the total weight', () => {
    const indexOf = ({ key, salt, weights }: Deal) => {
      const ends = cumulative(weights)
      const hash = BigInt(murmurhash.v3(salt + key, 0))
      const place = Number((hash * BigInt(ends.at(-1) ?? 1)) >> 32n)
      return ends.findIndex((end) => place < end)
    }
    agreesOnWeights('flagd', indexOf)
    agreesOnWeights('flagd', indexOf, { maxTotal: 20_000 })
  })

  it('The scheme flagd uses a total weight of 100 by default', () => {
    expect(bucketOf('flagd', 'user-1', { salt: 'flag' })).toBe(
      bucketOf('flagd', 'user-1', { salt: 'flag', totalWeight: 100 }),
    )
  })
})

describe('configcat', () => {
  it('The scheme configcat selects by the first seven digits of the hash', () => {
    const placeOf = (salt: string, key: string) =>
      Number(BigInt(`0x${hex('sha1', salt + key).slice(0, 7)}`) % 100n)
    agreesOnPercentages('configcat', (salt, key, percent) => placeOf(salt, key) < percent)
    const indexOf = ({ key, salt, weights }: Deal) => {
      return cumulative(weights).findIndex((end) => placeOf(salt, key) < end)
    }
    agreesOnWeights('configcat', indexOf, { total: 100 })
  })
})

describe('flagsmith', () => {
  const percentageOf = (ids: readonly string[], times = 1): number => {
    const text = Array(times).fill(ids).flat().join(',')
    const value = (Number(BigInt(`0x${hex('md5', text)}`) % 9999n) / 9998) * 100
    return value === 100 ? percentageOf(ids, times + 1) : value
  }

  it('The scheme flagsmith includes the same keys as the formula of Flagsmith', () => {
    agreesOnPercentages('flagsmith', (salt, key, percent) => {
      const value = percentageOf([salt, key])
      // No bucket is below the first one. A percentage of 0 % is imported as the first bucket.
      return percent === 0 ? false : value <= percent
    })
    const indexOf = ({ key, salt, weights }: Deal) => {
      return cumulative(weights).findIndex((end) => percentageOf([salt, key]) < end)
    }
    agreesOnWeights('flagsmith', indexOf, { total: 100 })
  })

  it('The scheme flagsmith includes the upper bound for percentages, but not for variants', () => {
    const keys = [...Array(40_000).keys()].map(String)
    const halves = keys.filter((key) => percentageOf(['split', key]) === 50)
    expect(halves.length).toBeGreaterThan(0)
    for (const key of halves) {
      expect(bucketOf('flagsmith', key, { salt: 'split' })).toBe(49_999)
      expect(bucketOf('flagsmith', key, { salt: 'split', strategy: 'variant' })).toBe(50_000)
    }
  })

  it('The scheme flagsmith repeats the ids and hashes them again if the percentage is exactly 100', () => {
    const keys = [...Array(40_000).keys()].map(String)
    const isFull = (key: string) => BigInt(`0x${hex('md5', `split,${key}`)}`) % 9999n === 9998n
    const full = keys.filter(isFull)
    expect(full.length).toBeGreaterThan(0)
    for (const key of full) {
      const bucket = bucketOf('flagsmith', key, { salt: 'split', strategy: 'variant' })
      expect(bucket).toBe(Math.floor(percentageOf(['split', key]) * 1000))
    }
  })

  it('The scheme flagsmith has exactly the keys with the percentage 0 in the first bucket', () => {
    const keys = [...Array(40_000).keys()].map(String)
    const first = keys.filter((key) => bucketOf('flagsmith', key, { salt: 'split' }) === 0)
    expect(first.length).toBeGreaterThan(0)
    expect(first).toEqual(keys.filter((key) => percentageOf(['split', key]) === 0))
  })
})

describe('posthog', () => {
  it.each([
    ['simple-flag', 'distinct_id_0', 'percentage', 0.783696],
    ['simple-flag', 'distinct_id_1', 'percentage', 0.339706],
    ['simple-flag', 'distinct_id_2', 'percentage', 0.372043],
    ['multivariate-flag', 'distinct_id_0', 'variant', 0.618645],
  ] as const)(
    'The scheme posthog has the published share of salt %s and key %s with the strategy %s',
    (salt, key, strategy, share) => {
      expect(bucketOf('posthog', key, { salt, strategy })).toBe(Math.floor(share * BUCKETS))
    },
  )

  it('The scheme posthog includes the same keys as the formula of PostHog', () => {
    agreesOnPercentages('posthog', (salt, key, percent) => {
      return share15(`${salt}.${key}`) <= percent / 100
    })
    const indexOf = ({ key, salt, weights }: Deal) => {
      const value = share15(`${salt}.${key}variant`)
      return cumulative(weights).findIndex((end) => value < end / 100)
    }
    agreesOnWeights('posthog', indexOf, { total: 100 })
  })
})

describe.each([...schemes.keys()])('The scheme %s', (scheme) => {
  const settings: readonly Partial<BucketingSettings>[] = [
    { strategy: 'percentage' },
    { strategy: 'gradual' },
    { strategy: 'variant', totalWeight: 99 },
    { strategy: 'variant', ranges: rangesOf([{ variationId: 'a', weight: 100 }]) },
  ]

  it('Every scheme returns a valid and repeatable bucket for any key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (key, salt) => {
        for (const each of settings) {
          const bucket = bucketOf(scheme, key, { ...each, salt })
          expect(Number.isInteger(bucket) && bucket >= 0 && bucket < BUCKETS).toBe(true)
          expect(bucketOf(scheme, key, { ...each, salt })).toBe(bucket)
        }
      }),
    )
  })

  it('Every scheme includes about as many keys as the percentage requires', () => {
    const keys = [...Array(10_000).keys()].map((index) => `user-${index}`)
    const isIn = (key: string) => bucketOf(scheme, key, { salt: 'checkout' }) < 30_000
    const included = keys.filter(isIn)
    expect(included.length).toBeGreaterThan(2800)
    expect(included.length).toBeLessThan(3200)
  })
})
