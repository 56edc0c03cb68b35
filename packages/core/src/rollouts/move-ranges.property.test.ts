import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import type { BucketRange } from '../model/definition.ts'
import { BUCKETS } from './bucket.ts'
import { MAX_RANGES, movedPercentage, moveRanges } from './move-ranges.ts'
import { pickVariation, rangesOf, type Share } from './rollout.ts'

const IDS = ['v-0', 'v-1', 'v-2', 'v-3', 'v-4']

/** Shares of some of the variations. Their sum can be less than 100 %. */
const anyShares: fc.Arbitrary<readonly Share[]> = fc
  .tuple(fc.shuffledSubarray(IDS), fc.array(fc.nat({ max: BUCKETS }), { minLength: 5 }))
  .map(([ids, cuts]) => {
    const sorted = cuts.slice(0, ids.length).sort((left, right) => left - right)
    return ids.map((variationId, index) => {
      return { variationId, weight: ((sorted[index] ?? 0) - (sorted[index - 1] ?? 0)) / 1000 }
    })
  })

/** Ranges that have been moved a few times, and their shares. */
const anyState = fc
  .array(anyShares, { minLength: 1, maxLength: 6 })
  .map(([first = [], ...changes]) => {
    let ranges = rangesOf(first)
    for (const shares of changes) ranges = moveRanges(ranges, shares)
    return { ranges, shares: changes.at(-1) ?? first }
  })

const bucketsIn = (shares: readonly Share[], id: string) =>
  shares.reduce(
    (total, { variationId, weight }) =>
      variationId === id ? total + Math.round(weight * 1000) : total,
    0,
  )
const ownedBy = (ranges: readonly BucketRange[], id: string) =>
  ranges.reduce(
    (total, { variationId, from, to }) => (variationId === id ? total + to - from : total),
    0,
  )
const owners = (ranges: readonly BucketRange[]) =>
  Array.from({ length: BUCKETS }, (_, bucket) => pickVariation(ranges, bucket))

describe('moveRanges', () => {
  it('moveRanges returns exactly the shares, in ranges that do not overlap and cannot be merged', () => {
    fc.assert(
      fc.property(anyState, anyShares, ({ ranges: before }, shares) => {
        const after = moveRanges(before, shares)
        for (const id of IDS) expect(ownedBy(after, id)).toBe(bucketsIn(shares, id))
        for (const [index, { variationId, from, to }] of after.entries()) {
          const last = after[index - 1]
          expect(from).toBeGreaterThanOrEqual(last?.to ?? 0)
          expect(to).toBeGreaterThan(from)
          expect(last?.to === from && last.variationId === variationId).toBe(false)
        }
        expect(after.at(-1)?.to ?? 0).toBeLessThanOrEqual(BUCKETS)
      }),
      { numRuns: runs(100) },
    )
  })

  it('moveRanges moves exactly the sum of the increases, which is the minimum', () => {
    fc.assert(
      fc.property(anyState, anyShares, ({ ranges, shares: old }, shares) => {
        const increaseOf = (id: string) => bucketsIn(shares, id) - bucketsIn(old, id)
        const total = IDS.reduce((sum, id) => sum + increaseOf(id), 0)
        const increases = [-total, ...IDS.map(increaseOf)].filter((change) => change > 0)
        const least = increases.reduce((sum, change) => sum + change, 0)
        expect(movedPercentage(ranges, moveRanges(ranges, shares))).toBe(least / 1000)
      }),
      { numRuns: runs(100) },
    )
  })

  it('moveRanges takes no buckets from a variation with a share that does not shrink', () => {
    fc.assert(
      fc.property(anyState, anyShares, ({ ranges, shares: old }, shares) => {
        const after = owners(moveRanges(ranges, shares))
        const kept = new Set(IDS.filter((id) => bucketsIn(shares, id) >= bucketsIn(old, id)))
        const lost = owners(ranges).filter(
          (owner, bucket) => owner !== undefined && kept.has(owner) && after[bucket] !== owner,
        )
        expect(lost).toEqual([])
      }),
      { numRuns: runs(50) },
    )
  })

  it('moveRanges can undo and redo the last change exactly', () => {
    fc.assert(
      fc.property(anyState, anyShares, ({ ranges, shares: old }, shares) => {
        const after = moveRanges(ranges, shares)
        const undone = moveRanges(after, old, ranges)
        expect(undone).toEqual(ranges)
        expect(moveRanges(undone, shares, after)).toEqual(after)
      }),
      { numRuns: runs(100) },
    )
  })

  it('moveRanges moves no buckets if no share changes', () => {
    fc.assert(
      fc.property(anyState, anyShares, ({ ranges, shares }, previous) => {
        expect(moveRanges(ranges, [...shares].reverse(), rangesOf(previous))).toEqual(ranges)
      }),
      { numRuns: runs(100) },
    )
  })

  it('moveRanges adds at most as many ranges as there are variations', () => {
    fc.assert(
      fc.property(anyState, anyShares, ({ ranges }, shares) => {
        const after = moveRanges(ranges, shares)
        expect(after.length).toBeLessThanOrEqual(ranges.length + IDS.length + 1)
      }),
      { numRuns: runs(100) },
    )
  })

  it('moveRanges terminates even for highly fragmented ranges', () => {
    const before = Array.from({ length: MAX_RANGES }, (_, index) => {
      return { variationId: `v-${index % 100}`, from: index * 100, to: index * 100 + 50 }
    })
    const shares = Array.from({ length: 100 }, (_, index) => ({
      variationId: `w-${index}`,
      weight: 0.5,
    }))
    expect(moveRanges(before, shares).length).toBeLessThanOrEqual(MAX_RANGES)
  })
})
