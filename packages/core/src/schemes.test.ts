import { describe, expect, it } from 'vitest'
import { bucketOf, hex, percentageOf } from '../test/scheme-buckets.ts'
import { BUCKETS } from './rollouts/bucket.ts'
import { schemes } from './schemes.ts'

describe('unleash', () => {
  it.each([
    ['gr1', '123', 73, 96],
    ['groupX', '999', 25, 60],
  ])('The scheme unleash has the published hashes of %s:%s', (salt, key, percentage, variant) => {
    expect(bucketOf('unleash', key, { salt })).toBe((percentage - 1) * 1000)
    const settings = { salt, strategy: 'variant', totalWeight: 100 } as const
    expect(bucketOf('unleash', key, settings)).toBe((variant - 1) * 1000)
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

describe('flagd', () => {
  it('The scheme flagd uses a total weight of 100 by default', () => {
    expect(bucketOf('flagd', 'user-1', { salt: 'flag' })).toBe(
      bucketOf('flagd', 'user-1', { salt: 'flag', totalWeight: 100 }),
    )
  })
})

describe('flagsmith', () => {
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
})

describe.each([...schemes.keys()])('The scheme %s', (scheme) => {
  it('Every scheme includes about as many keys as the percentage requires', () => {
    const keys = [...Array(10_000).keys()].map((index) => `user-${index}`)
    const isIn = (key: string) => bucketOf(scheme, key, { salt: 'checkout' }) < 30_000
    const included = keys.filter(isIn)
    expect(included.length).toBeGreaterThan(2800)
    expect(included.length).toBeLessThan(3200)
  })
})
