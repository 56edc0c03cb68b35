import fc from 'fast-check'
import murmurhash from 'murmurhash'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../scripts/test-selection.ts'
import { bucketOf, hex, percentageOf } from '../test/scheme-buckets.ts'
import type { BucketingSettings } from './model/extensions.ts'
import { BUCKETS } from './rollouts/bucket.ts'
import { rangesOf } from './rollouts/rollout.ts'
import { schemes } from './schemes.ts'

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
    { numRuns: runs(1000) },
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
    { numRuns: runs(1000) },
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
})

describe('launchdarkly', () => {
  it('The scheme launchdarkly includes the same keys as the formula of LaunchDarkly', () => {
    agreesOnPercentages('launchdarkly', (salt, key, percent) => {
      return share15(`${salt}.${key}`) < (percent * 1000) / 100_000
    })
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
})

describe('posthog', () => {
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
      { numRuns: runs(100) },
    )
  })
})
