import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { BUCKETS, bucketOf } from './bucket.ts'
import { pickVariation, rangesOf } from './rollout.ts'

const anyWeight = fc.nat({ max: BUCKETS }).map((buckets) => buckets / 1000)
const rest = (weight: number) => (BUCKETS - Math.round(weight * 1000)) / 1000
const keys = Array.from({ length: 500 }, (_, user) => `user-${user}`)

describe('rangesOf', () => {
  it('No context leaves a variation of a two-way split if the share of the variation grows', () => {
    fc.assert(
      fc.property(anyWeight, anyWeight, fc.string(), (one, other, salt) => {
        const split = (weight: number) =>
          rangesOf([
            { variationId: 'on', weight },
            { variationId: 'off', weight: rest(weight) },
          ])
        const [low, high] = [split(Math.min(one, other)), split(Math.max(one, other))]
        for (const key of keys) {
          const bucket = bucketOf(salt, key)
          if (pickVariation(low, bucket) === 'on') expect(pickVariation(high, bucket)).toBe('on')
          expect(pickVariation(low, bucket)).toBeDefined()
        }
      }),
      { numRuns: runs(100) },
    )
  })

  it('rangesOf returns exactly the share of every variation, in adjacent ranges', () => {
    const anyCuts = fc.array(fc.nat({ max: BUCKETS }), { maxLength: 8 })
    fc.assert(
      fc.property(anyCuts, (cuts) => {
        const sorted = [...cuts].sort((left, right) => left - right)
        const shares = sorted.map((cut, index) => ({
          variationId: `v-${index}`,
          weight: (cut - (sorted[index - 1] ?? 0)) / 1000,
        }))
        const ranges = rangesOf(shares)
        for (const [index, { from }] of ranges.entries())
          expect(from).toBe(ranges[index - 1]?.to ?? 0)
        const sizes = new Map(ranges.map(({ variationId, from, to }) => [variationId, to - from]))
        for (const { variationId, weight } of shares) {
          expect(sizes.get(variationId) ?? 0).toBe(Math.round(weight * 1000))
        }
      }),
      { numRuns: runs(100) },
    )
  })
})
